//go:build !race

package conductord_test

const raceEnabled = false
