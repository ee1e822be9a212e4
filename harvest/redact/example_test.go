package redact_test

import (
	"fmt"

	"github.com/skill-evolve/evolve/harvest/redact"
)

func ExampleDetector() {
	clean, n := redact.Detector{}.Redact("DB_PASSWORD=hunter2boat psql -h db # commit 06a8b02c4f1de7a2b9c35d08e6f7a1b2c3d4e5f6")
	fmt.Println(n, clean)
	// Output: 1 DB_PASSWORD=[redacted:password] psql -h db # commit 06a8b02c4f1de7a2b9c35d08e6f7a1b2c3d4e5f6
}
