package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/tournament/campaign"
)

// cycleOwner names this process. The host tells apart processes of one number
// in two containers, the rest those of one number at different times.
func cycleOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), campaign.NewID(time.Now()))
}

// ownerGone reports whether another owner's process has certainly ended.
func ownerGone(of string) bool {
	part := strings.Split(of, "/")
	host, err := os.Hostname()
	if err != nil || len(part) != 3 || part[0] != host {
		return false
	}
	pid, err := strconv.Atoi(part[1])
	if err != nil {
		return false
	}
	if pid == os.Getpid() {
		return true // the number came round
	}
	return processGone(pid)
}

// powerSupplies is the folder in which Linux lists them.
const powerSupplies = "/sys/class/power_supply"

// onBattery reports whether the machine runs on its battery: there is a mains
// supply, and none is online. It is false if the system does not report its
// supplies.
func onBattery(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	mains := false
	for _, e := range entries {
		kind, err := os.ReadFile(filepath.Join(dir, e.Name(), "type"))
		if err != nil || strings.TrimSpace(string(kind)) != "Mains" {
			continue
		}
		mains = true
		if on, err := os.ReadFile(filepath.Join(dir, e.Name(), "online")); err == nil && strings.TrimSpace(string(on)) == "1" {
			return false
		}
	}
	return mains
}
