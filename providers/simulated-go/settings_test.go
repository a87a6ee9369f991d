package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestReadSettingsTellsAllProblems(t *testing.T) {
	const noKey = "give either SIMCLOUD_API_KEY_FILE or SIMCLOUD_API_KEY, the key of an account of the cloud"
	tests := []struct {
		name string
		env  map[string]string
		want []string
	}{
		{"nothing said", nil, []string{noKey}},
		{"two keys", map[string]string{"SIMCLOUD_API_KEY": "k", "SIMCLOUD_API_KEY_FILE": "f"}, []string{noKey}},
		{
			"everything wrong",
			map[string]string{"SIMCLOUD_URL": "localhost:7070", "SIMCLOUD_CALL_TIMEOUT_MS": "soon"},
			[]string{
				"SIMCLOUD_URL localhost:7070: must be a URL, such as http://127.0.0.1:7070",
				noKey,
				"SIMCLOUD_CALL_TIMEOUT_MS soon: must be a whole number of milliseconds, 1 to 600000",
			},
		},
		{"no time at all", map[string]string{"SIMCLOUD_API_KEY": "k", "SIMCLOUD_CALL_TIMEOUT_MS": "0"}, []string{
			"SIMCLOUD_CALL_TIMEOUT_MS 0: must be a whole number of milliseconds, 1 to 600000",
		}},
		{"a key alone", map[string]string{"SIMCLOUD_API_KEY": "k"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := readSettings(func(name string) string { return test.env[name] })
			if !slices.Equal(problems, test.want) {
				t.Errorf("problems are %q, want %q", problems, test.want)
			}
		})
	}
}

func TestReadSettingsTakesANewKeyFromItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	env := map[string]string{"SIMCLOUD_API_KEY_FILE": file, "SIMCLOUD_CALL_TIMEOUT_MS": "1500"}
	settings, problems := readSettings(func(name string) string { return env[name] })
	if problems != nil || settings.callTimeout != 1500*time.Millisecond {
		t.Fatalf("settings are %+v, problems %q", settings, problems)
	}
	for _, key := range []string{"first", "second"} {
		if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := settings.apiKey(); err != nil || got != key {
			t.Errorf("the key is %q, %v, want %q", got, err, key)
		}
	}
}
