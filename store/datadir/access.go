package datadir

// An Access is what a command may do with the data folder, and with what hooks and
// agents read.
type Access int

const (
	// Writes is the access of a command that changes something.
	Writes Access = iota
	// Looks is the access of a command that only reads: the database is opened
	// read-only, and no file is made or changed.
	Looks
	// Tries is the access of a command that computes what another one would do: it uses
	// a private copy of the database, and changes nothing else.
	Tries
)

// Recorded is a message that something was recorded; if only a copy of the database was
// changed, the message states that.
func (a Access) Recorded(message string) string {
	if a == Tries {
		return message + " (not kept: this is a dry run)"
	}
	return message
}
