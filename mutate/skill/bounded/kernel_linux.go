package bounded

import (
	"os"

	"golang.org/x/sys/unix"
)

// kernelFiles are file systems whose files the kernel generates as they are
// read. They look like regular ones, but reading /proc/kmsg or trace_pipe
// waits for events, and takes them away from other readers.
var kernelFiles = map[uint32]bool{
	unix.PROC_SUPER_MAGIC:     true,
	unix.SYSFS_MAGIC:          true,
	unix.DEBUGFS_MAGIC:        true,
	unix.TRACEFS_MAGIC:        true,
	unix.SECURITYFS_MAGIC:     true,
	unix.CGROUP_SUPER_MAGIC:   true,
	unix.CGROUP2_SUPER_MAGIC:  true,
	unix.BPF_FS_MAGIC:         true,
	unix.PSTOREFS_MAGIC:       true,
	unix.EFIVARFS_MAGIC:       true,
	unix.SELINUX_MAGIC:        true,
	unix.SMACK_MAGIC:          true,
	unix.BINFMTFS_MAGIC:       true,
	unix.NSFS_MAGIC:           true,
	unix.RDTGROUP_SUPER_MAGIC: true,
	0x62656570:                true, // configfs
	0x65735543:                true, // fusectl
}

// ofKernel reports whether an open file is one of those.
func ofKernel(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var s unix.Statfs_t
	ctrl := conn.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &s) })
	return ctrl == nil && err == nil && kernelFiles[uint32(s.Type)]
}
