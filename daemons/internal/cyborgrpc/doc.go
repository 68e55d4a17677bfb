// Package cyborgrpc is the RPC contract of Cyborg's services: the methods of conductor and agent as values,
// the exceptions they raise, and the clients. It is the only place that makes a remote.
//
// # Interfaces and their history
//
// Conductor, topic cyborg-conductor ([ConductorTopic]):
//
//	1.0  report_data, device_profile_create, device_profile_delete, arq_create, arq_delete_by_uuid,
//	     arq_delete_by_instance_uuid, arq_apply_patch (17.0.0)
//	1.1  object_class_action_versions, object_action, object_backport_versions (2027.1)
//
// Agent, topic cyborg-agent ([AgentTopic]):
//
//	1.0  fpga_program, create_vgpu_mdev, remove_vgpu_mdev (17.0.0)
//
// # Caps
//
// [ParseLimits] reads [upgrade_levels] conductor and agent; [NewConductorAPI] and [NewAgentAPI] put them on
// every client. A cap is a ceiling: a 1.0 call stays 1.0 under cap 1.1, and a 1.1 call under cap 1.0 fails
// before anything is sent. It never limits what a server accepts.
//
// # Objects on RPC 1.0
//
// Every peer of RPC 1.0 reads the object versions of 17.0.0, so [Wire], the serializer of all clients and
// servers, writes objects at the versions of [cyborg.Release17Versions]; a reply takes the versions of the
// object it answers ([Wire.Reply]). Content that those versions cannot express fails before it is sent.
// Objects of the 1.1 methods are negotiated by manifest and pass through as they are.
package cyborgrpc
