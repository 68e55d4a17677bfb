// Package arq holds accelerator requests (ARQs) as values: what state they are
// in and may go to, what a device profile asks for, what an attach handle says,
// and how all of it looks from outside. Everything is a pure function; storing,
// calling agents and telling Nova are the caller's.
//
// # Words
//
// A [Request] is one ARQ: a consumer's wish for one unit of a device. It is
// made from a [Group] of a device profile, bound to an instance by giving it an
// attach handle ([Handle]) of a deployable, and lives by the table behind
// [State.Next]. A bind may need a step outside the database (creating an mdev,
// programming an FPGA, reserving an NVMe drive); until that step's [Outcome] the
// request is BindStarted and already owns its handle.
//
//	next, err := request.State.Next(arq.EventBind)
//	// err is a *BadStateError where the request may not be bound
//
// What becomes of the handle of a request that leaves is [Settle]'s decision.
//
// # attach_info
//
// [HandleInfo] reads the JSON text of an attach handle without losing anything:
// original bytes, order, JSON types and unknown keys stay. Three keys have a
// meaning beyond the PCI address: managed (may the hypervisor rebind the host
// driver; absent is true), stateful (absent is false) and numa_node (absent and
// null are unknown). A value of another type is an *[InfoError], never coerced:
// a device must not change its mode because somebody stored "false".
//
// # Views
//
// [Request.View] gives the REST body at a microversion, 2.0 to 2.4. From 2.4
// attach_handle_info shows the metadata keys with their JSON types and defaults;
// below, none of them appears and every value is text, as in Cyborg 17.
// [Handle.Hostdev] translates a PCI handle for a hypervisor driver.
//
// All types are plain values; nothing here keeps state, logs or starts a
// goroutine. Texts and rules follow Cyborg 17.0.0 and the specification "Support
// VFIO variant driver managed mode".
package arq
