// Package truth holds no code, only tests: it tries what the permission policy
// believes. Command lines that a mode runs without a question are run by the
// real bash in a cage of namespaces. Afterwards plan mode may have changed
// nothing, accept-edits and auto nothing outside the workspace and nothing
// protected, and none may have opened a secret or run the project's code, but
// for its checks (SPEC 4.15, 16.3, 16.5). A review's attacks and their sisters
// run as each mode would run them if the judgement were wrong, in the sandbox:
// none does harm (SPEC 16.12). After random turns in the sandbox, what the person
// runs next without it runs nothing of theirs that they were not told (SPEC 16.16).
//
// The tests need root on Linux, so they have a build tag and run in CI:
//
//	go test -tags truth ./internal/truth
//	PAWL_TRUTH=1h PAWL_SEED=7 PAWL_MODE=plan go test -tags truth -timeout 2h -run TestComposed ./internal/truth
package truth
