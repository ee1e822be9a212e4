//go:build unix && !linux

package process

func errands() {}
