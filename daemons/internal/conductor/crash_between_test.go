package conductor_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-cyborg/cyborg/arq"
)

// binds are the requests of all patches.
func (s *crashScene) binds() []crashBind { return slices.Concat(s.patches...) }

// between is the state that must be found when some requests of the patches are bound and the others have failed or were
// never begun, as got says: everything of the device of a bound one is as after the patches, the rest as before them.
func (s *crashScene) between(before, after, got []string) []string {
	want := slices.Clone(before)
	for _, b := range s.binds() {
		request := func(line string) bool { return strings.HasPrefix(line, "arq <"+s.names[b.ARQ]+">: ") }
		state := stateOf(got, request)
		source := before
		if state == arq.Bound || state == arq.BindFailed && b.Device == crashMdev { // the mdev may exist: the handle is kept until the unbind
			source = after
		}
		want = swap(want, source, func(line string) bool { return request(line) || about(line, b.Device) })
		if state == arq.BindFailed {
			want = swap(want, got, request)
		}
		if b.Device == crashFPGA {
			want = programmed(want, before, after, got, state)
		}
	}
	slices.Sort(want)
	return want
}

// programmed puts into want what became of the programming of the FPGA. When the bind has failed nobody knows how far
// it came: what the FPGA carries is known if it was not tried, and the function's trait may be there.
func programmed(want, before, after, got []string, state arq.State) []string {
	trait := func(line string) bool {
		return strings.HasPrefix(line, "custom trait ") || strings.HasPrefix(line, "traits "+crashName(crashFPGA)+":")
	}
	switch state {
	case arq.Bound:
		return swap(want, after, trait)
	case arq.BindFailed:
	default:
		return want
	}
	want = swap(want, slices.DeleteFunc(slices.Clone(got), func(line string) bool {
		return !slices.Contains(before, line) && !slices.Contains(after, line)
	}), trait)
	for i, line := range want {
		if unknown := strings.Replace(line, "bitstream_id="+oldImage, "bitstream_id=NULL", 1); slices.Contains(got, unknown) {
			want[i] = unknown
		}
	}
	return want
}

// swap takes the lines that match from another state.
func swap(lines, source []string, match func(string) bool) []string {
	kept := slices.DeleteFunc(slices.Clone(lines), match)
	for _, line := range source {
		if match(line) {
			kept = append(kept, line)
		}
	}
	return kept
}

// about reports whether a line speaks of a device.
func about(line string, device int) bool {
	return strings.Contains(line, crashName(device)) || strings.Contains(line, fmt.Sprintf(`"device": "%02x"`, device))
}

func stateOf(lines []string, request func(string) bool) arq.State {
	i := slices.IndexFunc(lines, request)
	if i < 0 {
		return ""
	}
	_, state, _ := strings.Cut(lines[i], "state=")
	state, _, _ = strings.Cut(state, " ")
	return arq.State(state)
}

// bound counts the bound requests of a state.
func bound(lines []string) (n int) {
	for _, line := range lines {
		if strings.HasPrefix(line, "arq ") && strings.Contains(line, "state=Bound ") {
			n++
		}
	}
	return n
}
