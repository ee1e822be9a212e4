package redact

import (
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/redact/likely"
	"github.com/skill-evolve/evolve/harvest/redact/planted"
)

var update = flag.Bool("update", false, "learn likely/weights.bin anew")

// A sample is a token of which it is known whether it is a secret.
type sample struct {
	features []uint32
	secret   bool
	author   string // of its text; "" is this repository
	class    string
	weight   float64 // how much it counts
}

var lookOf = map[string]lookFor{"typed": inTyped, "answer": inProse, "tool": inOutput}

// samplesOf are the tokens of a text, which holds these secrets.
func samplesOf(text string, look lookFor, author string, weight float64, secrets []string) (out []sample) {
	var at []span
	for _, v := range secrets {
		for from := 0; ; {
			i := strings.Index(text[from:], v)
			if i < 0 {
				break
			}
			at = append(at, span{start: from + i, end: from + i + len(v)})
			from += i + len(v)
		}
	}
	t := likely.NewText(text, bars[look].kind)
	for w := range pieces(text) {
		if ofKnownForm(text, span{start: w.Start, end: w.End}) {
			continue
		}
		touches := func(p span) bool { return w.Start < p.end && w.End > p.start }
		out = append(out, sample{t.Features(w), slices.ContainsFunc(at, touches), author, fmt.Sprint(look), weight})
	}
	return out
}

// samples are those of all authors, each text twice with different secrets, and of this
// repository's sources and documents, which hold none.
func samples(t *testing.T) (all []sample) {
	const corpora = "../ingest/testdata/secrets"
	for _, dir := range corporaIn(t, corpora) {
		for _, name := range []string{"forms.jsonl", "decoys.jsonl"} {
			for seed := range uint64(2) {
				texts, err := planted.Read(dir, name, seed)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range texts {
					all = append(all, samplesOf(p.Messages[0].Text, lookOf[p.Class], filepath.Base(dir), 1, p.Values)...)
				}
			}
		}
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Go's sources have certificates, hashes and tables among them.
	std := filepath.Join(strings.TrimSpace(string(out)), "src")
	for root, share := range map[string]int{"../../docs": 2, "../../pareto": 4, "../../store": 4, "../../tournament": 4,
		std + "/crypto": 12, std + "/net": 12, std + "/encoding": 8, std + "/cmd/go": 24, std + "/syscall": 40, std + "/unicode": 40, std + "/internal": 40} {
		all = append(all, harmlessIn(t, root, share)...)
	}
	return all
}

// harmlessIn takes one in share of the paragraphs of the texts below root.
func harmlessIn(t *testing.T, root string, share int) (all []sample) {
	const paragraph = 20 // lines
	r := rand.New(rand.NewPCG(5, 6))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "redact") || strings.HasSuffix(path, ".bin") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) > 1<<20 || !utf8.Valid(data) {
			return err
		}
		for lines := range slices.Chunk(strings.Split(string(data), "\n"), paragraph) {
			look := []lookFor{inOutput, inOutput, inTyped, inProse}[r.IntN(4)]
			if r.IntN(share) == 0 {
				all = append(all, samplesOf(strings.Join(lines, "\n"), look, "", 1, nil)...)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func corporaIn(t *testing.T, root string) (dirs []string) {
	all, err := filepath.Glob(filepath.Join(root, "*", "decoys.jsonl"))
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	dirs = []string{root}
	for _, path := range all {
		dirs = append(dirs, filepath.Dir(path))
	}
	return dirs
}

// learn is logistic regression by stochastic gradients with a step for each weight
// (Duchi et al., 2011).
func learn(all []sample) []float64 {
	const epochs, step, decay = 20, 0.05, 1e-4
	w, sums := make([]float64, likely.Slots), make([]float64, likely.Slots)
	r := rand.New(rand.NewPCG(1, 2))
	for range epochs {
		for _, k := range r.Perm(len(all)) {
			s := &all[k]
			d := 1 / (1 + math.Exp(-score(w, s.features)))
			if s.secret {
				d--
			}
			for _, i := range s.features {
				g := d*s.weight + decay*w[i]
				sums[i] += g * g
				w[i] -= step / math.Sqrt(1e-6+sums[i]) * g
			}
		}
	}
	return w
}

func score(w []float64, features []uint32) (sum float64) {
	for _, i := range features {
		sum += w[i]
	}
	return sum
}

// What is learnt from some authors' texts is true of another's.
func TestWeights(t *testing.T) {
	all := samples(t)
	if *update {
		if err := os.WriteFile("likely/weights.bin", likely.Pack(learn(all)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, author := range []string{"home", "operations", "answers"} {
		var others []sample
		for _, s := range all {
			if s.author != author {
				others = append(others, s)
			}
		}
		w := learn(others)
		var found, secrets, wrong, harmless float64
		for _, s := range all {
			switch high := score(w, s.features) > 1; {
			case s.author != author:
			case s.secret:
				secrets++
				if high {
					found++
				}
			default:
				harmless++
				if high {
					wrong++
				}
			}
		}
		t.Logf("%-12s %4.1f %% of %4.0f secrets found, %4.1f %% of %4.0f other tokens taken for one", author, 100*found/secrets, secrets, 100*wrong/harmless, harmless)
		if found < 0.6*secrets || wrong > 0.06*harmless {
			t.Errorf("%s: what others wrote says too little", author)
		}
	}
}
