// Package nvme decides how an NVMe drive is erased between two tenants and says whether it was.
//
// It is pure: it decodes the structures a controller returns ([DecodeController], [DecodeNamespace], [DecodeSanitizeLog],
// [Status]), encodes the commands it takes ([Command]), chooses the erase from capabilities and policy ([NewPlan]) and holds
// the lifecycle that keeps an unclean drive from being handed out ([State.Next]). Reading and writing a drive is the work of
// a [Transport]: package nvme/linux issues ioctls, package nvme/nvmesim is a drive in memory.
//
// # Words
//
// A controller is one PCI function. Its namespaces may be shared with other controllers of the same NVM subsystem. A
// subsystem is exclusive when every controller in it is ours and idle; only then may a command that reaches the whole
// subsystem be sent. An [Assurance] of purge means that the data cannot be recovered by any means known, clear that it cannot
// be read back through the interface.
//
// # Choosing an erase
//
//	plan, err := nvme.NewPlan(caps, nvme.Policy{})     // auto/auto: the strongest erase that is safe here
//	var refused *nvme.RefusedError
//	if errors.As(err, &refused) { ... }                 // report the drive not at all: it must never fail at release
//	for _, attempt := range plan.Attempts { ... }       // a later attempt only if the drive rejected the earlier as unsupported
//
// # Concurrency
//
// Everything here is a value or a function of values and safe for concurrent use. A [Transport] belongs to one goroutine.
//
// # Limits
//
// Discard and the Dataset Management command never count as erasure. Overwrite by Sanitize is never chosen. Sanitize of a
// single namespace is not used.
//
// Structures and numbers follow the NVM Express Base and NVM Command Set specifications and linux/nvme_ioctl.h.
package nvme
