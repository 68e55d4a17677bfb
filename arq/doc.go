// Package arq holds accelerator requests as values.
package arq
