// Hello is the least that a Go program costs.
package main

import "fmt"

func main() { fmt.Println("hello") }
