import DarkroomModel
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomStorage

/// Places as coordinators and readers use them, of every kind.
@Suite struct StoragePlaceTests {
    @Test(arguments: StorageKind.allCases) func reservationIsWithdrawn(kind: StorageKind) throws {
        let harness = try kind.harness()
        let place = harness.place("photos")
        #expect(try !place.examine(renditions: []) && place.batches() == [])
        #expect(place.holder == nil && place.lastTaken == 0 && place.isUntouched(by: TestBatch.ids[0]))
        place.withdraw(TestBatch.ids[0])
        for number in [2, 0] { _ = try TestBatch(harness, number) }
        #expect(try place.examine(renditions: ["small"]) && place.batches() == [TestBatch.ids[0], TestBatch.ids[2]])
        try place.reserve(for: TestBatch.ids[0], origin: 5)  // again, as by a submission that is repeated
        #expect(try place.batches().count == 2)
        place.withdraw(TestBatch.ids[2])
        #expect(try place.batches() == [TestBatch.ids[0]])
        place.withdraw(TestBatch.ids[0])
        #expect(try place.batches() == [])
    }

    /// Two values with the same text are the same place.
    @Test(arguments: StorageKind.allCases) func placeIsKnownByItsText(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let same = batch.harness.place("photos")
        #expect(same.location == batch.place.location)
        #expect(try same.batches() == [batch.id])
        #expect(batch.place.manifestLocation(of: batch.id).contains(batch.id.description))
    }

    @Test(arguments: StorageKind.allCases) func locationIsCanonical(kind: StorageKind) throws {
        let harness = try kind.harness()
        let place = harness.place("photos")
        let type = type(of: place)
        #expect(place.location.hasPrefix(type.beginning) && place.title.contains(place.location))
        for location in [place.location, harness.trusted] {
            #expect(try type.canonical(location) == location)
            #expect(try type.canonical(location + "/./") == location)
            let error = expectError(StorageError.self) { try type.canonical(location + "/../other") }
            #expect(error?.code == .denied)
        }
    }

    @Test(arguments: StorageKind.allCases) func placeIsInWhatContainsIt(kind: StorageKind) throws {
        let harness = try kind.harness()
        let place = harness.place("photos")
        for location in [place.location, harness.trusted, harness.trusted + "/"] { #expect(place.isIn(location)) }
        for part in ["/photo", "/photos2", "/photos/a", "/other"] { #expect(!place.isIn(harness.trusted + part)) }
        #expect(place.hangDomain([:]) == harness.place("other").hangDomain([:]))
    }

    @Test(arguments: StorageKind.allCases) func withdrawalKeepsTheFilesOfPhotos(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1)
        for (batch, number) in [(batch, 0), (other, 1)] {
            let sink = try batch.sink(taken: 100 + number)
            _ = try sink.write(batch.made("\(number)"), of: batch.record(number), attempt: 1) { true }
            try sink.write(batch.lines(name: "\(number)"))
        }
        batch.place.withdraw(batch.id)
        #expect(try batch.readNames() == [] && other.readNames() == ["1", "1", "1", "1"])
        #expect(batch.place.isUntouched(by: batch.id) && batch.place.origin(of: batch.id) == nil)
        try batch.expectFiles(["000000-0.jpg": "0", "000001-1.jpg": "1"])
    }

    @Test(arguments: StorageKind.allCases) func placeIsUntouchedUntilAPhotoIsStored(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1)
        #expect(batch.place.isUntouched(by: batch.id))
        let sink = try batch.sink()
        _ = try sink.write(batch.made(), of: batch.record(0), attempt: 1) { true }
        try sink.write(batch.lines(name: "a"))
        #expect(!batch.place.isUntouched(by: batch.id) && other.place.isUntouched(by: other.id))
    }

    @Test(arguments: StorageKind.allCases) func originIsKept(kind: StorageKind) throws {
        let harness = try kind.harness()
        let place = harness.place("photos")
        try place.reserve(for: TestBatch.ids[0], origin: 7)
        try place.reserve(for: TestBatch.ids[1], origin: nil)
        #expect(place.origin(of: TestBatch.ids[0]) == 7 && place.origin(of: TestBatch.ids[1]) == nil)
        #expect(place.origin(of: TestBatch.ids[2]) == nil)
        try place.reserve(for: TestBatch.ids[0], origin: 8)
        #expect(place.origin(of: TestBatch.ids[0]) == 8)
    }

    @Test(arguments: StorageKind.allCases) func placeThatIsAwayCannotBeReserved(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.harness.takeAway()
        #expect(batch.place.holder == nil && batch.place.lastTaken == 0 && batch.place.origin(of: batch.id) == nil)
        batch.place.withdraw(batch.id)
        try batch.harness.mend()
        #expect(try batch.place.batches() == [batch.id])
    }

    @Test(arguments: StorageKind.limited) func fullPlaceCannotBeReserved(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(isLimited: true))
        try batch.harness.fill(leaving: 0)
        let error = try requireError(StorageError.self) { try batch.place.reserve(for: TestBatch.ids[1], origin: 5) }
        #expect(error.code == .denied && error.description.contains(batch.place.location))
        try batch.harness.mend()
        try batch.place.reserve(for: TestBatch.ids[1], origin: 5)
    }

    @Test(arguments: StorageKind.limited) func readOnlyPlaceCannotBeReserved(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(isLimited: true))
        try batch.harness.makeReadOnly()
        let errors = try [
            requireError(StorageError.self) { try batch.place.examine(renditions: []) },
            requireError(StorageError.self) { try batch.place.reserve(for: TestBatch.ids[1], origin: 5) },
        ]
        #expect(errors.map(\.code) == [.denied, .denied])
        try batch.harness.mend()
        #expect(try batch.place.examine(renditions: []) && batch.place.batches() == [batch.id])
    }

    @Test(arguments: StorageKind.allCases) func renditionWithTheNameOfAFileIsRefused(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), template: "{stem}", isCustom: true)
        let record = PhotoRecord(index: 0, name: "small", url: "u")
        let found = try batch.sink().write(batch.made(ending: "txt"), of: record, attempt: 1) { true }
        let name = try #require(found?.first?.file)
        #expect(try batch.place.examine(renditions: ["large"]))
        let error = try requireError(StorageError.self) { try batch.place.examine(renditions: ["large", name]) }
        #expect(error.code == .denied && error.description.contains(name))
    }

    @Test(arguments: StorageKind.allCases) func placeIsReservedInATrustedPlace(kind: StorageKind) throws {
        let harness = try kind.harness()
        let place = harness.place("photos")
        try place.reserve(for: TestBatch.ids[0], origin: 6, in: harness.trusted)
        #expect(try place.batches() == [TestBatch.ids[0]])
        #expect(place.origin(of: TestBatch.ids[0]) == 6)
        place.withdraw(TestBatch.ids[0])
        #expect(try place.batches() == [])
    }

    // MARK: - The batches of a place

    @Test(arguments: StorageKind.allCases) func placeOfAnotherBatchIsNotFree(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let place = batch.place
        try place.checkFree(for: batch.id)
        let error = try requireError(StorageError.self) { try place.checkFree(for: TestBatch.ids[1]) }
        #expect(error.code == .taken && error.description.contains(batch.id.description))
        // The batch is gone from the same Redis data and has stored nothing.
        try place.checkFree(origin: 5) { $0 == batch.id }
        for (origin, isGone) in [(5, false), (6, true), (nil, true)] {
            let error = expectError(StorageError.self) { try place.checkFree(origin: origin) { _ in isGone } }
            #expect(error?.code == .taken)
        }
        try batch.sink().write(batch.lines(name: "a"))
        let used = expectError(StorageError.self) { try place.checkFree(origin: 5) { _ in true } }
        #expect(used?.code == .taken)
    }

    /// A worker took the place for a batch of which nothing is stored yet.
    @Test(arguments: StorageKind.allCases) func placeOfItsHolderIsNotFree(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        _ = try batch.storage().take()
        #expect(batch.place.isUntouched(by: batch.id))
        let error = expectError(StorageError.self) { try batch.place.checkFree(origin: 5) { _ in true } }
        #expect(error?.code == .taken)
    }

    // MARK: - Workers

    /// A worker that does not see the reservation may have another place before it, such as an empty mount point.
    @Test(arguments: StorageKind.allCases) func workerRefusesAPlaceWithoutReservation(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let storage = try batch.storage()
        let sink = try storage.take().begin(batch.claim(token: 10), batch.records(), worker: "w")
        _ = try TestBatch(batch.harness, 1)
        batch.place.withdraw(batch.id)
        for refusal in try [
            requireError(Refusal.self) { try batch.storage() }, requireError(Refusal.self) { try storage.take() },
        ] { #expect(refusal.code != .folderTaken) }
        let fault = try requireError(StorageFault.self) {
            try sink.write(batch.made(), of: batch.record(0), attempt: 1) { true }
        }
        #expect(fault.scope != .file && fault.check.fault(room: 0) != nil)
        try batch.expectFiles([:])
    }

    @Test(arguments: StorageKind.allCases) func workerMakesMissingPlacesInItsFolders(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let place = batch.harness.place("later")
        var rules = batch.harness.rules
        rules.isRemote = true
        let refused = expectError(Refusal.self) {
            try place.storage(of: batch.files, taken: 1, rules, willAccess: { _ in })
        }
        #expect(refused.map { $0.code != .folderTaken } == true)
        #expect(try !place.examine(renditions: []))
        rules.places = [batch.harness.trusted]
        _ = try place.storage(of: batch.files, taken: 1, rules, willAccess: { _ in }).take()
        #expect(try place.batches() == [batch.id])
        rules.places = [batch.harness.trusted + "/elsewhere"]
        let outside = expectError(Refusal.self) {
            try place.storage(of: batch.files, taken: 1, rules, willAccess: { _ in })
        }
        #expect(outside?.code == .outputNotAllowed)
    }
}
