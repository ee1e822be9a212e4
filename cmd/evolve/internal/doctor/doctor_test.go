package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/datadir/policy"
)

func TestDoctorAsksServer(t *testing.T) {
	var header string
	code := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		header = r.Header.Get("Authorization")
		w.WriteHeader(code)
	}))
	defer srv.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	for _, c := range []struct {
		name, url, key string
		code           int
		timeout        time.Duration
		state, says    string
	}{
		{"without a key", srv.URL + "/v1", "", 200, time.Minute, works, "answers (200 OK)"},
		{"with a key", srv.URL + "/v1/", "sesame", 200, time.Minute, works, "answers (200 OK)"},
		{"key refused", srv.URL + "/v1", "", 401, time.Minute, Fails, "wants a key"},
		{"another program", srv.URL + "/v1", "", 404, time.Minute, Fails, "/v1/models answers 404"},
		{"silent", silent.URL, "", 0, time.Millisecond, Fails, "deadline exceeded"},
		{"nobody there", gone.URL, "", 0, time.Minute, Fails, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header, code = "", c.code
			env := map[string]string{"MY_KEY": c.key, "OPENAI_API_KEY": "another"}
			d := &Doctor{Getenv: func(k string) string { return env[k] }, BaseURL: c.url, shown: c.url, KeyEnv: "MY_KEY", Timeout: c.timeout}
			d.ask(t.Context())
			if len(d.found) != 1 || d.found[0].State != c.state || !strings.Contains(d.found[0].Detail, c.says) {
				t.Errorf("found %+v, want %s: …%s…", d.found, c.state, c.says)
			}
			want := ""
			if c.key != "" {
				want = "Bearer " + c.key
			}
			if header != want {
				t.Errorf("Authorization %q, want %q", header, want)
			}
		})
	}
}

// A server that answers needs no key and no --base-url, and its models are listed.
func TestDoctorListsModels(t *testing.T) {
	var list []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"object":"list","data":[%s]}`, strings.Join(list, ","))
	}))
	defer srv.Close()
	for i := range 12 {
		list = append(list, fmt.Sprintf(`{"id":"m%d"}`, i))
	}
	t.Setenv("PATH", t.TempDir())
	d := &Doctor{Getenv: func(string) string { return "" }, BaseURL: srv.URL, shown: srv.URL, KeyEnv: "MY_KEY", Timeout: time.Minute}
	d.Opener = &backend.Opener{Getenv: d.Getenv}
	var server string
	for _, f := range d.Agents(t.Context()) {
		if f.What == "agent openai" {
			t.Errorf("openai is judged by its key: %+v", f)
		}
		if f.What == "server" {
			server = f.Detail
		}
	}
	if want := "; for --model: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more"; !strings.HasSuffix(server, want) {
		t.Errorf("server: %q, want …%s", server, want)
	}
}

// A configuration that cannot be read stops every command; the doctor has to
// live to tell.
func TestDoctorWithUnreadableConfiguration(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "config.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := &Doctor{Home: func() (datadir.Dir, error) { return datadir.Dir(home), nil },
		Opener: &backend.Opener{Config: func() (*backend.Config, error) { return backend.ReadConfig(datadir.Dir(home).Config()) }}}
	if err := d.config(); err != nil {
		t.Fatal(err)
	}
	if len(d.found) != 1 || d.found[0].State != Fails || d.found[0].Fix == "" {
		t.Errorf("found %+v, want one failure with what to do", d.found)
	}
}

// A host that the machine's policy does not allow is not asked.
func TestDoctorAsksAllowedHostsAlone(t *testing.T) {
	p := &policy.Policy{Hosts: &[]string{"allowed.example"}}
	d := &Doctor{Getenv: func(string) string { return "" }, BaseURL: "http://192.0.2.1/v1", shown: "http://192.0.2.1/v1", Timeout: time.Millisecond,
		Policy: func() (*policy.Policy, error) { return p, nil }}
	d.ask(t.Context())
	if len(d.found) != 1 || d.found[0].State != Fails || !strings.Contains(d.found[0].Detail, "was not asked") || !strings.Contains(d.found[0].Detail, "192.0.2.1") {
		t.Errorf("%+v", d.found)
	}
}
