#if compiler(<6.2)
    /// Swift 6.2 requires this protocol of types whose metatypes are used on several threads (SE-0470). Earlier
    /// versions have no such requirement, so here any type meets it.
    package typealias SendableMetatype = Any
#endif
