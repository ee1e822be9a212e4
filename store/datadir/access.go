package datadir

// An Access is what a command may do with the data folder, and with what hooks and
// agents read.
type Access int

const (
	// Writes is the access of a command that changes something.
	Writes Access = iota
	// Looks is that of a command that only looks: the database is opened read-only, and
	// no file is made or changed.
	Looks
	// Tries is that of a command that finds out what another one would do: it does so
	// with a private copy of the database, and changes nothing else.
	Tries
)

// Recorded is a message that something was recorded; of a copy of the database it says
// that it is not kept.
func (a Access) Recorded(message string) string {
	if a == Tries {
		return message + " (not kept: this is a dry run)"
	}
	return message
}
