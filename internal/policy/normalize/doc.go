// Package normalize takes out of texts what changes from run to run, so that
// results, errors, arguments and command lines can be compared (SPEC 6.2).
//
// Result drops times, durations, addresses, temporary paths, process ids and
// call ids; Error keeps the lines that say what failed, without digits; Unwrap
// takes off what other agents put around a result; CanonicalArgs and
// CanonicalCommand are equal where arguments and commands mean the same.
// Promises: pure, linear in the length of the text, and bounded results. It
// never changes what is sent to a model: what it returns is only compared.
package normalize
