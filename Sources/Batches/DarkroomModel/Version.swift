/// The version of this package. `darkroom --version` prints it, and workers report it.
package let darkroomVersion = "0.1.0"
