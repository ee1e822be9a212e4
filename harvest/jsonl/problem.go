package jsonl

// A Problem is a part of a file that could not be read, and why. It never ends the
// harvest.
type Problem struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"` // 1-based, 0 for the whole file
	Reason string `json:"reason"`
	// Remark is true if nothing is missing because of it.
	Remark bool `json:"remark,omitempty"`
}
