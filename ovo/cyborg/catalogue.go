package cyborg

import "github.com/go-cyborg/cyborg/ovo"

// Namespace is the serial namespace of every Cyborg object.
func Namespace() ovo.Namespace { return ovo.Namespace{Prefix: "cyborg_object", Project: "cyborg"} }

// Classes are the current production classes (2027.1), in registration order.
func Classes() []*ovo.Class {
	return append(sharedClasses(),
		arqClass(), extARQClass(), fpgaExtARQClass(), attachHandleClass(),
		deviceListClass(), controlpathIDListClass(), deployableListClass(), attachHandleListClass())
}

// NewRegistry makes the registry of the current classes. An error means a mistake in a declaration; the
// registry is immutable and safe for concurrent use.
func NewRegistry() (*ovo.Registry, error) { return ovo.NewRegistry(Namespace(), Classes()...) }

// sharedClasses are those that have not changed since 17.0.0.
func sharedClasses() []*ovo.Class {
	return []*ovo.Class{
		attributeClass(), controlpathIDClass(), deployableClass(), deviceClass(), deviceProfileClass(),
		driverAttachHandleClass(), driverAttributeClass(), driverControlPathIDClass(),
		driverDeployableClass(), driverDeviceClass(),
	}
}
