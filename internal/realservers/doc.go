// Package realservers tries adapter/lsp on real language servers, started as a
// session starts them: no fake says what a server does. Its tests want the build
// tag realservers and the programs in PAWL_SERVERS, a list of folders; .ci/run
// installs them.
package realservers
