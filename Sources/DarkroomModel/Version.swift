/// The version of this package, which `darkroom --version` prints and workers report.
package let darkroomVersion = "0.1.0"
