/// The version of this package, as `darkroom --version` prints it and workers tell it.
package let darkroomVersion = "0.1.0"
