// The library for Swift programs: submits photo lists, follows and controls batches, runs workers, reads manifests.
//
// DESIGN: `import Darkroom` exports exactly the types in this list. A test compares the list with the compiled
// modules. The types of this module use the other modules, whose declarations are `package`. This module exports all
// public types of DarkroomModel, DarkroomRecipes and DarkroomWorker; all of them are in this list. Only `@_exported` is
// suitable: a program that is compiled with the feature MemberImportVisibility could not use the members of types that
// are exported as type aliases.
//
//  Client        DarkroomClient, RedisLocation, DarkroomError, DarkroomError.Code
//  Batches       BatchID, BatchOptions, BatchPriority, DamagedPhotos, PhotoFilter, PhotoRendition, PhotoEncoding, SubmissionNotice,
//                SubmissionNotice.Code
//  Submission    Submission, Submission.Field, PhotoList, PhotoList.Quotes, SubmissionExamination, SubmissionExamination.UnusableEntry
//  State         BatchFacts, BatchState, BatchControls, BatchControls.Focus, ClusterControls, PhotoCounts, PhotoState, FailureReason,
//                PhotoFailure, OperationStatus, OperationStatus.State, WorkerStatus
//  Control       QueuePart, PhotoRanges, RetriedPhotos
//  Following     BatchUpdates, BatchUpdates.Iterator, BatchUpdate, ClusterEvents, ClusterEvents.Iterator, ClusterUpdate, BatchEvent,
//                BatchEvent.Kind, BatchEvent.Completion
//  Manifest      PhotoManifest, PhotoManifest.Entries, PhotoManifest.Entries.Iterator, ManifestEntry, ManifestEntry.File
//  Workers       PhotoWorker, PhotoWorkerConfiguration, DownloadRules, WorkerLogEvent, WorkerLogEvent.Level, CustomFilter,
//                DownloadedPhoto, PhotoPixels, PhotoRecord
@_exported import DarkroomModel
@_exported import struct DarkroomRecipes.PhotoEncoding
@_exported import struct DarkroomRecipes.PhotoFilter
@_exported import struct DarkroomRecipes.PhotoRendition
@_exported import struct DarkroomWorker.DownloadRules
@_exported import struct DarkroomWorker.PhotoWorkerConfiguration
