package harvest

import "io"

// Seen and Sign are for tests that read through harvesttest.Cursor, which imports
// this package.
var Seen = seen

func Sign(f *FileState, r io.ReaderAt) error { return f.sign(r) }
