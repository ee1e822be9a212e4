package backend

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

//go:embed prices.yaml
var builtinPrices []byte

// A PriceTable has the prices of models, and the date of the prices.
type PriceTable struct {
	Date   string                `yaml:"date"`
	Models map[string]eval.Price `yaml:"models"`
}

func (t *PriceTable) check() error {
	for name, p := range t.Models {
		for _, v := range []float64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
			if !eval.IsAmount(v) {
				return fmt.Errorf("prices: models: %s: %v is no price", name, v)
			}
		}
	}
	return nil
}

// dated matches the release date that vendors append to a model's name.
var dated = lazyregexp.New(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$`)

// price looks up a model by its name, ignoring the provider before a slash
// and a release date after it. A name that only has a known one as its prefix
// is another model, and unknown: nil.
func (t *PriceTable) price(model string) *eval.Price {
	if t == nil || model == "" {
		return nil
	}
	names := []string{model, model[strings.LastIndex(model, "/")+1:]}
	names = append(names, dated.ReplaceAllString(names[1], ""))
	for _, n := range names {
		if p, ok := t.Models[n]; ok {
			return &p
		}
	}
	return nil
}
