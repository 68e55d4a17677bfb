// Package reconcile makes the stored inventory of a host, and what Placement
// offers of it, agree with what the host's agent reports: it decides as a pure
// function over values, then carries the decision out through two small
// interfaces. It needs no running Cyborg.
//
//	runner := &reconcile.Runner{Store: db, Placement: placement.New(client, placement.Config{})}
//	result, err := runner.Run(ctx, host, reported)
//
// # Words
//
// An [Inventory] is what one host has: each [Device] with its [ControlPath], its
// [Deployable] resources, their [Attribute] pairs (resource class and traits
// among them) and their attach handles ([Handle]). A reported device is a stored
// one without ids. A handle is held when it is in use or any accelerator request
// refers to it.
//
// [Diff] compares stored and reported devices with the providers that Placement
// shows ([Tree]) and gives a [Plan]: one [DevicePlan] for every device with
// something to do, in steps, and [Problem] values for what it would not do.
// [Runner.Apply] carries a plan out.
//
// # The offer
//
// Deployable.Offer (the column rp_uuid) is the offer: while it is empty, no bind
// finds the deployable. Placement is written only then, by a writer that claimed
// the row (its updated_at is the claim), and the offer is set last. A crash at
// any point therefore leaves something that cannot be bound and that the next
// report completes; there is no journal and no lock on the host. Two runs of one
// host, on one conductor or two, end in one of their two results.
//
// # What is kept
//
// A report never changes device_state, in_use, status, ids or uuids. Texts are
// matched by bytes, then by what they mean, and keep their stored bytes. A held
// device, deployable or handle that is no longer reported is retained: off
// offer, its inventory reserved in full, removed when it is free. A held handle
// keeps its managed mode whatever a report says. [DesiredReserved] is the one
// rule for every inventory write. Devices fail alone: a refused or unreachable
// one is a [Problem], never the report's error.
//
// # Managed mode
//
// [Managed] compares the metadata of stored PCI handles with what an agent
// discovered, before it reports (specification "Support VFIO variant driver
// managed mode"); [ApplyManaged] makes the updates it plans.
//
// # Checked
//
// The tests live through thousands of random worlds, with a crash at every
// write, every write failing once, and two runs interleaved request by request;
// each ordering rule above is also broken on purpose to show that they notice.
// RECONCILE_WORLDS sets how many worlds. Package reconciletest has the Store and
// the Placement they run on. One deployable name on two devices within one
// report is refused; two reports that overlap and disagree about who has a name
// are not told apart.
//
// Everything is safe for concurrent use; a Runner starts goroutines during Apply
// only and has ended them when it returns. Identities, provider names and uuids
// are those of Cyborg 17.0.0.
package reconcile
