// Package reconcile compares what a host reports with what is stored.
package reconcile
