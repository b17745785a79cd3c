// Package metrics exports data about a running pawl to monitoring tools: counters for
// Prometheus over HTTP, and a span for each turn, request and call to an OpenTelemetry
// collector.
//
// Both are computed from the session's events and nothing else. They never export a
// prompt, a reply, an argument, a result or a path: only names, counts, times and the
// kinds of errors (SPEC 16.7). Only flags and the environment set the destination, never
// a project (SPEC 16.2). They never delay a run: spans that cannot be sent in time are
// dropped and counted.
//
// The text format and the collector's JSON are written here without the official
// libraries, which would add 1.4 ms and 2.9 MB (Prometheus) and 1.3 ms and 8.1 MB (OTLP)
// to a start of 3 ms, used or not (ADR 005).
package metrics
