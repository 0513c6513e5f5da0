#if compiler(<6.2)
    /// Swift 6.2 requires this of a type whose metatype is used on several threads (SE-0470). Earlier versions allow it
    /// for every type.
    package typealias SendableMetatype = Any
#endif
