// Package realservers tries adapter/lsp on real language servers, started as a
// session starts them: a fake does not know what a server does. gopls is the one that
// tools/gopls pins: the go command builds it, once, and keeps it. The tests of the
// others want the build tag realservers and their programs in PAWL_SERVERS, a list
// of folders; .ci/run installs them.
package realservers
