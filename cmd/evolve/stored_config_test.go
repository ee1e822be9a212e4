package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// TestStoredConfigs holds the JSON that a run's row keeps of what it was asked for:
// every field by its name, in its order, and read back as it was written. Runs of an
// older evolve are resumed from it.
func TestStoredConfigs(t *testing.T) {
	for name, of := range map[string]func() any{
		"run": func() any { return new(campaign.Config) },
	} {
		t.Run(name, func(t *testing.T) {
			full := of()
			n := 0
			fill(reflect.ValueOf(full).Elem(), &n)
			got, err := json.MarshalIndent(full, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", "config", name+".json")
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff.Diff(golden, want, "now", got); len(d) > 0 {
				t.Errorf("%s", d)
			}
			read := of()
			if err := json.Unmarshal(want, read); err != nil {
				t.Fatal(err)
			}
			again, err := json.MarshalIndent(read, "", "  ")
			if err != nil || !bytes.Equal(append(again, '\n'), want) {
				t.Errorf("read back and written again (%v):\n%s", err, diff.Diff(golden, want, "again", append(again, '\n')))
			}
		})
	}
}

// TestStoredConfigSchema1: the configurations of runs from before there were other subjects
// than skills are read.
func TestStoredConfigSchema1(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "config", "run-schema1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c campaign.Config
	if err := json.Unmarshal(text, &c); err != nil || c.Schema != 1 || c.Skill == "" || c.Mined.Rollouts == 0 {
		t.Errorf("read as schema %d of %q (%v)", c.Schema, c.Skill, err)
	}
}

// fill gives every exported field a value of its own.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() || f.Anonymous {
				fill(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		if v.CanSet() {
			v.SetString(fmt.Sprintf("s%d", *n))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	default:
		if v.CanInt() {
			v.SetInt(int64(*n))
		} else if v.CanUint() {
			v.SetUint(uint64(*n))
		}
	}
}
