import Testing

@testable import DarkroomModel

@Suite struct DamagedPhotosTests {
    /// Earlier versions stored 1 or an empty text, and failed photos with defects for any other text.
    @Test func batchesOfEarlierVersionsKeepTheirMeaning() {
        func stored(_ text: String?) -> DamagedPhotos {
            var fields = Dictionary(uniqueKeysWithValues: BatchOptions().fields)
            fields["accepts.damage"] = text
            return BatchOptions(fields: fields).damagedPhotos
        }
        #expect(
            stored("1") == .accept && stored("") == .fail && stored(nil) == .fail && stored("tolerate") == .tolerate)
        #expect(BatchOptions().damagedPhotos == .tolerate)
    }

    @Test(arguments: DamagedPhotos.allCases) func optionIsStored(option: DamagedPhotos) {
        var options = BatchOptions()
        options.damagedPhotos = option
        #expect(BatchOptions(fields: Dictionary(uniqueKeysWithValues: options.fields)) == options)
        #expect(options.outOfBounds.isEmpty)
        // Other workers must not treat a batch as one that accepts damage.
        #expect((options.fields.first { $0.field == "accepts.damage" }?.value == "1") == (option == .accept))
    }

    @Test func unknownTextIsDamage() {
        var fields = StoredFields(["accepts.damage": "2"])
        #expect(fields.damagedPhotos("accepts.damage") == .fail && fields.damage == ["accepts.damage is \"2\""])
    }
}
