// Package api is the REST API of the accelerator service, version 2, as clients of
// Cyborg 17.0.0 know it: paths, microversions, bodies, headers, error shapes and
// status codes, the odd ones included.
//
// [New] builds an http.Handler over three seams: [Store] reads (and deletes in this
// process, as the peer does), [Conductor] writes by RPC, [Authenticator] says who
// calls. [NoAuth] makes everybody an administrator; such an API must listen on a
// loopback address only.
//
//	handler, err := api.New(api.Config{Store: db, Conductor: conductor, Authenticator: api.NoAuth(), Policy: enforcer})
//
// # Order of judgement
//
// OPTIONS, token (401), microversion (406), path (404), method (405), Accept (406),
// policy (403), query and body (400, 415), then the resource itself. The root and
// the version document need no token.
//
// # Microversions
//
// 2.0 is the default. 2.1 lets administrators set an ARQ's project, 2.2 finds device
// profiles by name, 2.3 shows the status of devices, 2.4 shows managed, stateful and
// numa_node of attach handles with their JSON types.
//
// # Differences from the peer
//
// Paths also work below /accelerator, where the links point to. A UUID in a device
// profile is checked before anything is written. Answers carry no traceback and no
// SQL text. An ARQ is never created or deleted by halves in one database
// transaction of ours, but POST still makes one conductor call for each.
//
// A [Handler] is safe for concurrent use.
package api
