// Command remotable shows objects with remotable methods: the same methods run locally, against a store, and in another service, over any transport of
// package rpc (here the one within the process).
//
// device_list.go holds the smallest complete case, a list object with one class method; device.go an object with an instance method that changes a
// field and returns a value; serve.go what a service and its caller do to be connected. The program makes the same calls twice:
//
//	go run ./examples/remotable
//
// A caller cannot tell where a method runs. What it holds is a struct of functions, filled with bodies ([localMethods]) or with calls ([ovo.Registry.Bind]).
package main
