// Package metrics shows a running pawl to the tools that watch programs:
// counters for Prometheus over HTTP, and a span for each turn, request and call
// to an OpenTelemetry collector.
//
// Both are folds over the session's events and see nothing else. No prompt, no
// reply, no argument, no result and no path leaves through them: only names,
// counts, times and the kinds of errors (SPEC 16.7). Where to send is said by
// flags and the environment alone, never by a project (SPEC 16.2). They never
// hold a run up: what cannot be sent in time is dropped and counted.
//
// The text format and the collector's JSON are written here and not by the
// official libraries: linked in, those add 1.4 ms and 2.9 MB (Prometheus) and
// 1.3 ms and 8.1 MB (OTLP) to a start of 3 ms, used or not (ADR 005).
package metrics
