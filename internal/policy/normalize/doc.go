// Package normalize removes from texts what changes from run to run, so that
// results, errors, arguments and command lines can be compared (SPEC 6.2).
//
// Result removes times, durations, addresses, temporary paths, process ids and
// call ids. Error keeps the lines that name the failure, without digits. Unwrap
// removes the text that other agents add to a result. CanonicalArgs and
// CanonicalCommand return equal texts for arguments and commands with the same
// meaning. Promises: pure, linear in the length of the text, and results of
// limited size. It never changes what is sent to a model: its results are only
// compared.
package normalize
