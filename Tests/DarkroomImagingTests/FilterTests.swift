import ErrorExpectations
import Testing

@testable import DarkroomImaging

@Suite struct FilterTests {
    @Test(arguments: [
        ("sepia", Filter.sepia(intensity: 0.8), "sepia=0.8"),
        ("sepia=0.8", .sepia(intensity: 0.8), "sepia=0.8"),
        ("sepia=1", .sepia(intensity: 1), "sepia=1"),
        ("sepia=1.0", .sepia(intensity: 1), "sepia=1"),
        ("sepia=-0", .sepia(intensity: 0), "sepia=0"),
        ("sepia=.00001", .sepia(intensity: 0.00001), "sepia=1e-05"),
        ("tilt-shift", .tiltShift(radius: 3), "tilt-shift=radius:3"),
        ("tilt-shift=radius:3", .tiltShift(radius: 3), "tilt-shift=radius:3"),
        ("tilt-shift=radius:2.5", .tiltShift(radius: 2.5), "tilt-shift=radius:2.5"),
    ])
    func parsesFiltersAndWritesTheirCanonicalText(text: String, filter: Filter, canonical: String) throws {
        #expect(try Filter(parsing: text) == filter)
        #expect(filter.description == canonical)
        #expect(try Filter(parsing: canonical) == filter)
    }

    @Test(arguments: [
        "", "sepa", "Sepia", "sepia=", "sepia=2", "sepia=-0.1", "sepia=nan", "sepia=0x1p-1", "sepia=a", "sepia=0.8 ",
        "tilt-shift=3", "tilt-shift=radius", "tilt-shift=radius:", "tilt-shift=radius:0", "tilt-shift=radius:101",
        "tilt-shift=radius:inf",
    ])
    func errorSaysWhatToWriteInsteadOfInvalidText(text: String) {
        let error = expectError(FilterSyntaxError.self) { try Filter(parsing: text) }
        #expect(error?.description.hasPrefix("filter \"\(text)\": ") == true)
        #expect(error?.problem.contains("sepia") == true || error?.problem.contains("tilt-shift=radius:3") == true)
    }
}
