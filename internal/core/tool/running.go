package tool

// Running is a process and its share of a CPU in percent.
type Running struct {
	Name string
	CPU  int
}
