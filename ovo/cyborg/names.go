package cyborg

// Names and versions that Cyborg has not released yet. They are provisional and stand here alone, so that
// following the released ones is a change of one file; the method names are in the tags of the method structs
// beside their Go types.
const (
	NameDeviceList        = "DeviceList"
	NameControlpathIDList = "ControlpathIDList"
	NameDeployableList    = "DeployableList"
	NameAttachHandleList  = "AttachHandleList"
)
