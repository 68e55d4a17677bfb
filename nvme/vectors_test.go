package nvme_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-cyborg/cyborg/nvme"
)

type tally struct{ passed, failed, skipped int }

func (c *tally) check(t *testing.T, name string, ok bool, got, want any) {
	t.Helper()
	if ok {
		c.passed++
		return
	}
	c.failed++
	t.Errorf("%s: got %v, want %v", name, got, want)
}

// TestVectors reads what drives, QEMU and the ioctl interface were recorded to say ($VECTORS_DIR/nvme when set).
func TestVectors(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "vectors", "nvme")
	if other := os.Getenv("VECTORS_DIR"); other != "" {
		dir = filepath.Join(other, "nvme")
	}
	var count tally
	checkSanitizeLogs(t, &count, dir)
	checkABI(t, &count, dir)
	files, err := filepath.Glob(filepath.Join(dir, "qemu*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		checkIdentify(t, &count, file)
	}
	fmt.Printf("nvme vectors: %d passed, %d failed, %d skipped\n", count.passed, count.failed, count.skipped)
	if count.passed == 0 {
		t.Error("no case was read")
	}
}

// load reads a JSON file; a file that is absent from another vector directory is no error.
func load(t *testing.T, path string, into any) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && os.Getenv("VECTORS_DIR") != "" {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return true
}

func unhex(t *testing.T, text string, length int) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < length {
		b = append(b, make([]byte, length-len(b))...)
	}
	return b
}

func checkSanitizeLogs(t *testing.T, count *tally, dir string) {
	var file struct {
		Length int `json:"log_length"`
		Cases  []struct {
			Name   string
			Hex    string `json:"hex_without_trailing_zeros"`
			Expect map[string]any
		}
	}
	if !load(t, filepath.Join(dir, "sanitize-log-cases.json"), &file) {
		return
	}
	statuses := map[nvme.SanitizeStatus]string{
		nvme.SanitizeNever: "never", nvme.SanitizeOK: "ok", nvme.SanitizeInProgress: "in_progress",
		nvme.SanitizeFailed: "failed", nvme.SanitizeOKForced: "ok_forced_deallocate",
	}
	actions := map[nvme.SanitizeAction]string{nvme.SanitizeBlock: "block", nvme.SanitizeCrypto: "crypto", nvme.SanitizeOverwrite: "overwrite"}
	for _, c := range file.Cases {
		log := nvme.DecodeSanitizeLog(unhex(t, c.Hex, file.Length))
		got := map[string]any{
			"status": statuses[log.Status], "gde": log.GlobalDataErased, "passes_done": float64(log.PassesDone),
			"action": actions[log.Action()], "restricted": log.Restricted(), "etbe": float64(log.BlockSeconds), "ssi": float64(log.StateInformation),
			"no_deallocate": log.Command>>9&1 == 1, "emvs": log.Command>>10&1 == 1, "progress": any(nil),
		}
		if log.Status == nvme.SanitizeInProgress {
			got["progress"] = log.Progress
		}
		for key, want := range c.Expect {
			value, known := got[key]
			count.check(t, c.Name+" "+key, known && value == want, value, want)
		}
	}
}

func checkABI(t *testing.T, count *tally, dir string) {
	var file struct {
		Size      int `json:"passthru_size"`
		Encodings []struct{ What, Hex string }
		Statuses  []struct {
			Word, Masked, Name string
			SCT                uint8
			DNR                bool
		} `json:"status_words_seen_or_expected"`
	}
	if !load(t, filepath.Join(dir, "ioctl-abi.json"), &file) {
		return
	}
	count.check(t, "size of nvme_passthru_cmd", file.Size == nvme.PassthruSize, nvme.PassthruSize, file.Size)
	const minutes15 = 15 * time.Minute
	commands := map[string]nvme.Command{
		"Identify Controller":                                       nvme.Identify(1, 0),
		"Identify Namespace 1":                                      nvme.Identify(0, 1),
		"Sanitize log, 512 bytes, NSID FFFFFFFFh":                   nvme.GetLog(0x81, 512),
		"Sanitize block erase, restricted":                          nvme.Sanitize(nvme.SanitizeBlock),
		"Sanitize crypto erase, restricted":                         nvme.Sanitize(nvme.SanitizeCrypto),
		"Format nsid 1 LBAF 0 SES 1, 900 s":                         nvme.Format(1, 0, nvme.EraseUserData, minutes15),
		"Format all, LBAF 18 (needs the high bits), SES 2":          nvme.Format(nvme.AllNamespaces, 18, nvme.EraseCrypto, minutes15),
		"Write Zeroes nsid 1 slba 0x100000001 128 blocks with DEAC": nvme.WriteZeroes(1, 0x100000001, 128),
	}
	for _, e := range file.Encodings {
		command, known := commands[e.What]
		if !known {
			count.skipped++
			continue
		}
		var addr uint64
		if command.DataLen > 0 {
			addr = 0x1122334455667788
		}
		got := command.Passthru(addr)
		count.check(t, e.What, hex.EncodeToString(got[:]) == e.Hex, hex.EncodeToString(got[:]), e.Hex)
	}
	for _, s := range file.Statuses {
		word, err := strconv.ParseUint(strings.TrimPrefix(s.Word, "0x"), 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		status := nvme.Status(word)
		masked := "0x" + strconv.FormatUint(uint64(status.Code()), 16)
		count.check(t, s.Name, masked == s.Masked && status.Type() == s.SCT && status.DoNotRetry() == s.DNR, masked, s.Masked)
	}
}

// checkIdentify compares our reading of the recorded buffers with that of nvme-cli.
func checkIdentify(t *testing.T, count *tally, path string) {
	var file struct {
		Buffers map[string]struct {
			Hex    string `json:"hex_without_trailing_zeros"`
			Length int
		}
		Decoded map[string]map[string]any `json:"decoded_by_nvme_cli_2.16"`
	}
	if !load(t, path, &file) {
		return
	}
	for name, want := range file.Decoded {
		node, what, _ := strings.Cut(name, " ")
		switch what {
		case "id-ctrl":
			buffer, ok := file.Buffers[node+"_id-ctrl"]
			if !ok || want["sn"] == nil {
				count.skipped++
				continue
			}
			c, err := nvme.DecodeController(unhex(t, buffer.Hex, buffer.Length))
			if err != nil {
				t.Fatalf("%s %s: %v", path, name, err)
			}
			count.check(t, name+" sn", c.Serial == strings.TrimRight(want["sn"].(string), " "), c.Serial, want["sn"])
			count.check(t, name+" mn", c.Model == strings.TrimRight(want["mn"].(string), " "), c.Model, want["mn"])
			count.check(t, name+" vid", float64(c.VendorID) == want["vid"], c.VendorID, want["vid"])
			count.check(t, name+" cntlid", float64(c.ID) == want["cntlid"], c.ID, want["cntlid"])
			count.check(t, name+" nn", float64(c.Namespaces) == want["nn"], c.Namespaces, want["nn"])
			count.check(t, name+" subnqn", c.SubsystemNQN == want["subnqn"], c.SubsystemNQN, want["subnqn"])
			oacs := int(want["oacs"].(float64))
			count.check(t, name+" oacs", c.Format == (oacs>>1&1 == 1) && c.NamespaceMgmt == (oacs>>3&1 == 1), c, oacs)
		case "id-ns":
			head, id, ok := strings.Cut(node[len("nvme"):], "n")
			buffer, found := file.Buffers["nvme"+head+"_id-ns-"+id]
			if !ok || !found || want["nsze"] == nil {
				count.skipped++
				continue
			}
			n, err := nvme.DecodeNamespace(unhex(t, buffer.Hex, buffer.Length))
			if err != nil {
				t.Fatalf("%s %s: %v", path, name, err)
			}
			count.check(t, name+" nsze", float64(n.Size) == want["nsze"], n.Size, want["nsze"])
			count.check(t, name+" ncap", float64(n.Capacity) == want["ncap"], n.Capacity, want["ncap"])
			nmic := int(want["nmic"].(float64))
			count.check(t, name+" nmic", n.Shared == (nmic&1 == 1), n.Shared, nmic)
			formats := want["lbafs"].([]any)
			format := formats[n.FormatIndex].(map[string]any)
			count.check(t, name+" block size", float64(n.BlockSize) == float64(int(1)<<int(format["ds"].(float64))), n.BlockSize, format["ds"])
		default:
			count.skipped++
		}
	}
}
