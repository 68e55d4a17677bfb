package reconcile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
)

// deviceNamespace is the fixed namespace of [DeviceUUID].
var deviceNamespace = uuid.MustParse("3c0e8d4e-5f0b-5d8c-9a57-6b1d4b0a7e21")

// ProviderUUID is the uuid of the resource provider of a deployable: version 3
// of the deployable's name in the DNS namespace, as in every Cyborg.
func ProviderUUID(name string) string {
	return uuid.NewMD5(uuid.NameSpaceDNS, []byte(name)).String()
}

// DeviceUUID derives the uuid of a device row from its host, in the stored
// spelling, and the canonical form of its control path, so that two conductors
// that add the same device meet at the unique index.
func DeviceUUID(host string, p ControlPath) string {
	return uuid.NewSHA1(deviceNamespace, []byte(host+"\x00"+p.key())).String()
}

// key is the canonical form of a control path: type and address, else type and
// canonical JSON, else type and text.
func (p ControlPath) key() string { return p.Type + "\x00" + canonicalInfo(p.Info) }

// canonicalInfo gives texts that mean the same the same form.
func canonicalInfo(text string) string {
	info, err := arq.ParseHandleInfo(text)
	if err != nil {
		return "text:" + text
	}
	if a, err := info.Address(); err == nil {
		return "pci:" + a.String()
	}
	return "json:" + canonicalJSON(info, nil)
}

// canonicalJSON writes info with sorted keys, without the keys in drop.
func canonicalJSON(info arq.HandleInfo, drop map[string]string) string {
	set := make(map[string]string, len(drop))
	for k := range drop {
		set[k] = ""
	}
	for _, k := range info.Keys() {
		v, _ := info.Value(k)
		if strings.ContainsAny(v[:1], "{[") {
			var b bytes.Buffer
			if json.Compact(&b, []byte(v)) == nil {
				set[k] = b.String()
			}
		}
	}
	return info.Compose(set)
}

// metadataKeys are never part of a handle's identity.
var metadataKeys = map[string]string{arq.KeyManaged: "", arq.KeyStateful: "", arq.KeyNUMANode: ""}

// handleKey is the identity of a handle for texts that do not match byte by
// byte: of a PCI function its address alone, else every key but the metadata.
func handleKey(t arq.HandleType, info arq.HandleInfo) string {
	if t == arq.HandlePCI || t == arq.HandleTestPCI {
		if a, err := info.Address(); err == nil {
			return "pci:" + a.String()
		}
	}
	return "json:" + canonicalJSON(info, metadataKeys)
}

// handleKeyOf is [handleKey] of a stored or reported handle; a text that is no
// JSON object is its own identity.
func handleKeyOf(h *Handle) string {
	info, err := arq.ParseHandleInfo(h.Info)
	if err != nil {
		return "text:" + h.Info
	}
	return handleKey(h.Type, info)
}

// handleName names a handle in a problem: its address where it has one.
func handleName(h *Handle) string {
	if info, err := arq.ParseHandleInfo(h.Info); err == nil {
		if a, err := info.Address(); err == nil {
			return a.String()
		}
	}
	return h.Info
}
