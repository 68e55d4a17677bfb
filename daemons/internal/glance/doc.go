// Package glance finds the images that FPGAs are programmed with, in the image service. It reads their metadata only;
// agents download the content.
package glance
