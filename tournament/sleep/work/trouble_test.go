package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

func TestAboutTask(t *testing.T) {
	infra := func(kind eval.FailureKind) error {
		return fmt.Errorf("try: %w", &eval.TooManyMissingError{Missing: 3, Jobs: 8, Err: &eval.InfraError{Kind: kind, Err: errors.New("boom")}})
	}
	for _, test := range []struct {
		err    error
		kind   string // "": it ends the night
		common bool
	}{
		{infra(eval.ServerError), "server_error", false},
		{infra(eval.BadRequest), "bad_request", false},
		{infra(eval.Unreachable), "unreachable", true},
		{infra(eval.Auth), "auth", true},
		{errors.New("what nobody has thought of"), "other", false},
		{infra(eval.UsageLimit), "", false},
		{infra(eval.Pending), "", false},
		{fmt.Errorf("save: %w", &store.FullError{Path: "evolve.db", Err: errors.New("full")}), "", false},
		{fmt.Errorf("write: %w", syscall.ENOSPC), "", false},
		{fmt.Errorf("save: %w", store.ErrLeaseLost), "", false},
		{lock.ErrLost, "", false},
		{context.Canceled, "", false},
		{&sleep.Hopeless{Err: errors.New("its kernel")}, "", false},
		{&sleep.Overtaken{Why: "you edited it"}, "", false},
	} {
		var own *sleep.Trouble
		err := aboutTask(t.Context(), test.err)
		switch is := errors.As(err, &own); {
		case is != (test.kind != ""), !is && err != test.err:
			t.Errorf("%v: %T", test.err, err)
		case is && (own.Kind != test.kind || own.Common != test.common || !errors.Is(err, test.err)):
			t.Errorf("%v: %+v, want %s, common %v", test.err, own, test.kind, test.common)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := aboutTask(ctx, infra(eval.ServerError)); errors.As(err, new(*sleep.Trouble)) {
		t.Errorf("of an interrupted night: %v", err)
	}
	if aboutTask(t.Context(), nil) != nil {
		t.Error("no error is one")
	}
}

// TestFailingSkillsAreNamed with the reason, and few of many.
func TestFailingSkillsAreNamed(t *testing.T) {
	n := &sleep.Night{Steps: []sleep.Step{
		{Kind: sleep.Search, Skill: "a", Stage: sleep.Failed, Trouble: "server_error", Note: "500: boom; tried again next night"},
		{Kind: sleep.Search, Skill: "b", Stage: sleep.Done, Note: "nothing"},
		{Kind: sleep.Search, Skill: "c", Stage: sleep.Skipped, Trouble: "bad_request", Note: "failed 2 nights in a row"},
		{Kind: sleep.Search, Skill: "d", Stage: sleep.Skipped, Note: "pinned"}}}
	if got, want := status.Failing(n), "failing  a: search: 500: boom; tried again next night\n         c: search: failed 2 nights in a row\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	n.Steps = append(n.Steps, n.Steps[0], n.Steps[0])
	if got := status.Failing(n); strings.Count(got, "\n") != 2 || !strings.Contains(got, "and 3 more: ") {
		t.Errorf("%q, want two lines", got)
	}
	n.Steps = []sleep.Step{{Kind: sleep.Search, Skill: "a", Stage: sleep.Waits, Trouble: "server_error", Note: "takes about 100 rollouts"}}
	if got := status.Failing(n); !strings.Contains(got, "a: search: failed when it was tried last (server_error)") {
		t.Errorf("%q of one that waits", got)
	}
	if got := status.Failing(&sleep.Night{}); got != "" {
		t.Errorf("%q of an empty night", got)
	}
}
