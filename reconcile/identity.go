package reconcile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"github.com/go-cyborg/cyborg/arq"
	"github.com/go-cyborg/cyborg/pci"
)

// deviceNamespace is the fixed namespace of [DeviceUUID].
var deviceNamespace = uuid.MustParse("3c0e8d4e-5f0b-5d8c-9a57-6b1d4b0a7e21")

// ProviderUUID is the uuid of the resource provider of a deployable: version 3
// of the deployable's name in the DNS namespace, as in every Cyborg.
func ProviderUUID(name string) string {
	return uuid.NewMD5(uuid.NameSpaceDNS, []byte(name)).String()
}

// Unnamed gives a stub for every stored device that a report does not name: it
// stays as it is. That is for a report of which a part cannot be read.
func Unnamed(have Inventory, report []Device) []Device {
	named := make(map[key]bool, len(report))
	for i := range report {
		named[report[i].ControlPath.reportedKey()] = true
	}
	var stubs []Device
	for i := range have.Devices {
		if path := have.Devices[i].ControlPath; !named[path.key()] {
			stubs = append(stubs, Device{ControlPath: path, Stub: true})
		}
	}
	return stubs
}

// DeviceUUID derives the uuid of a device row from its host, in the stored
// spelling, and the canonical form of its control path, so that two conductors
// that add the same device meet at the unique index.
func DeviceUUID(host string, p ControlPath) string {
	return uuid.NewSHA1(deviceNamespace, []byte(host+"\x00"+p.key().String())).String()
}

// key is the identity behind a text: texts that mean the same have the same.
// It is comparable.
type key struct {
	kind    string // "pci", "json" or "text"
	typ     string // of a control path
	address pci.Address
	text    string
}

// String is what [DeviceUUID] is made of; it must never change.
func (k key) String() string {
	if k.kind == keyPCI {
		return k.typ + "\x00" + k.kind + ":" + k.address.String()
	}
	return k.typ + "\x00" + k.kind + ":" + k.text
}

const (
	keyPCI  = "pci"
	keyJSON = "json"
	keyText = "text"
)

// key is the identity of a control path: type and address, else type and
// canonical JSON, else type and text.
func (p ControlPath) key() key {
	k := key{kind: keyText, typ: p.Type, text: p.Info}
	info, err := arq.ParseHandleInfo(p.Info)
	if err != nil {
		return k
	}
	if a, err := info.Address(); err == nil {
		return key{kind: keyPCI, typ: p.Type, address: a}
	}
	k.kind, k.text = keyJSON, canonicalJSON(info, nil)
	return k
}

// cpidType is the only type of control paths.
const cpidType = "PCI"

// reportedKey is the key of a reported control path. A type that there is not
// makes no other device of it: the device is refused, and what is stored of
// it is found by the rest.
func (p ControlPath) reportedKey() key {
	p.Type = cpidType
	return p.key()
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

// handleKeyOf is the identity of a handle for texts that do not match byte by
// byte: of a PCI function its address alone, else every key but the metadata; a
// text that is no JSON object is its own.
func handleKeyOf(h *Handle) key {
	info, err := arq.ParseHandleInfo(h.Info)
	if err != nil {
		return key{kind: keyText, text: h.Info}
	}
	if h.Type == arq.HandlePCI || h.Type == arq.HandleTestPCI {
		if a, err := info.Address(); err == nil {
			return key{kind: keyPCI, address: a}
		}
	}
	return key{kind: keyJSON, text: canonicalJSON(info, metadataKeys)}
}

// unreadable says why a handle's text does not tell its function.
func unreadable(h *Handle) error {
	info, err := arq.ParseHandleInfo(h.Info)
	if err == nil && h.Type != arq.HandleMDEV {
		_, err = info.Address()
	}
	return err
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
