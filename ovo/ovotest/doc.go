// Package ovotest checks the contract of versioned objects in their author's own tests. One call does it:
//
//	func TestContract(t *testing.T) {
//		registry, err := objects.NewRegistry()
//		if err != nil {
//			t.Fatal(err)
//		}
//		ovotest.Check(t, registry, map[string]string{
//			"Volume":     "1.5-<md5>",
//			"VolumeList": "1.0-<md5>",
//		})
//	}
//
// [Check] compares fingerprints, which are those of Python's ObjectVersionChecker, so that the same map can guard both implementations. When a contract
// changed but its version did not, it looks for what changed, names the field, value or method, and suggests the line of the history. It then walks every class
// down its history, and checks that parts and members are declared at the versions that their classes have.
package ovotest
