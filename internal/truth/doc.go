// Package truth holds no code, only tests: it tries what the permission policy
// believes. Command lines that plan mode runs without a question are run by the
// real bash in a cage of namespaces, and afterwards nothing may have changed
// and no secret may have been read (SPEC 4.15, 16.5).
//
// The tests need root on Linux, so they have a build tag and run in CI:
//
//	go test -tags truth ./internal/truth
//	PAWL_TRUTH=1h PAWL_SEED=7 go test -tags truth -timeout 2h -run TestComposed ./internal/truth
package truth
