package caps

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
)

// A forecast beyond a default cap names what would do; reading that was paid for counts.
func TestBeyond(t *testing.T) {
	usd := 4.0
	takes := Estimate{USD: &usd, Tokens: 900, HighUSD: 6.5, Rollouts: 40}
	byDefault := eval.Caps{CostUSD: 5}
	by := Held{ByDefault: byDefault}
	// Nobody allows more than the policy of the machine.
	if e := (Held{byDefault, eval.Caps{CostUSD: 8}}).Beyond(byDefault, eval.Spent{CostUSD: 2}, takes); e == nil || e.Caps.CostUSD != 8 {
		t.Errorf("a policy of $8: %+v", e)
	}
	if e := (Held{byDefault, byDefault}).Beyond(byDefault, eval.Spent{CostUSD: 2}, takes); e != nil {
		t.Errorf("a policy of $5, which holds anyway: %+v", e)
	}
	if e := by.Beyond(byDefault, eval.Spent{}, takes); e != nil {
		t.Errorf("$4 of $5: %v", e)
	}
	if e := (Held{}).Beyond(eval.Caps{CostUSD: 3}, eval.Spent{}, takes); e != nil {
		t.Errorf("a cap that was chosen: %v", e)
	}
	e := by.Beyond(byDefault, eval.Spent{CostUSD: 2}, takes)
	if e == nil || e.Error() != "the forecast, about $6.00, is more than the default cap of $5.00" || e.Caps.CostUSD != 9 || e.Fits != 30 {
		t.Fatalf("with $2 of reading: %+v", e)
	}
	if got, want := e.Hint(), "--max-cost-usd 9 allows it, --max-rollouts 30 is likely to fit, and --yes does not ask"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e = Held{ByDefault: eval.Caps{Tokens: 800}}.Beyond(eval.Caps{Tokens: 800}, eval.Spent{TokensIn: 50, TokensOut: 50}, takes)
	if e == nil || e.Caps.Tokens != 1000 || e.Flag != "--max-tokens 1000" {
		t.Errorf("tokens: %+v", e)
	}
}

// What the parts of a command spend together stays within its caps, unless a part was approved
// that needs more; a part that is not approved raises nothing.
func TestPurse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		byDefault := eval.Caps{CostUSD: float64(rapid.IntRange(0, 20).Draw(t, "dollars")), Tokens: rapid.Int64Range(0, 1000).Draw(t, "tokens")}
		p := New(byDefault, Held{ByDefault: byDefault}, time.Now)
		var spent eval.Spent
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			usd, tokens := float64(rapid.IntRange(0, 15).Draw(t, "usd")), rapid.Int64Range(1, 800).Draw(t, "takes")
			exceeds := byDefault.CostUSD > 0 && spent.CostUSD+usd > p.Caps().CostUSD || byDefault.Tokens > 0 && spent.TokensIn+tokens > p.Caps().Tokens
			allowed, asked, no := rapid.Bool().Draw(t, "allowed"), false, errors.New("no")
			before := p.Caps()
			err := p.Approve(&usd, tokens, func(e *BeyondError) error {
				asked = asked || e != nil
				if e != nil && !allowed {
					return no
				}
				return nil
			})
			if asked != exceeds || (err != nil) != (exceeds && !allowed) {
				t.Fatalf("asked %v, %v; %+v left of %+v", asked, err, spent, before)
			}
			if err != nil {
				if p.Caps() != before {
					t.Fatalf("%+v became %+v", before, p.Caps())
				}
				continue
			}
			part := p.Part()
			r, err := part.Reserve(eval.ByMutator, eval.Cost{Usage: &eval.Usage{Input: tokens}, USD: &usd})
			if err != nil && !(byDefault.CostUSD > 0 && spent.CostUSD+usd >= p.Caps().CostUSD) {
				t.Fatalf("an approved part does not fit %+v: %v", p.Caps(), err)
			} else if err != nil {
				continue
			}
			r.Settle(eval.Cost{Usage: &eval.Usage{Input: tokens}, USD: &usd})
			if got := part.Spent(); got.TokensIn != tokens || got.CostUSD != usd {
				t.Fatalf("a part of %d tokens has spent %+v", tokens, got)
			}
			spent = spent.Plus(part.Spent())
		}
		if got := p.Budget.Spent(); got.TokensIn != spent.TokensIn || got.CostUSD != spent.CostUSD {
			t.Fatalf("all: %+v, the parts: %+v", got, spent)
		}
	})
}
