import DarkroomRedis
import Testing

@Suite struct RedisConfigurationTests {
    @Test(arguments: [
        ("redis://127.0.0.1", RedisConfiguration.Address.tcp(host: "127.0.0.1", port: 6379), "redis://127.0.0.1:6379"),
        ("redis://[::1]:7000/", .tcp(host: "::1", port: 7000), "redis://[::1]:7000"),
        ("rediss://redis.example:6380/2", .tcp(host: "redis.example", port: 6380), "rediss://redis.example:6380/2"),
        ("unix:///run/redis/redis.sock", .unix(path: "/run/redis/redis.sock"), "unix:///run/redis/redis.sock"),
        ("unix:///a%20folder/redis.sock", .unix(path: "/a folder/redis.sock"), "unix:///a folder/redis.sock"),
    ])
    func readsAddresses(url: String, address: RedisConfiguration.Address, displayName: String) throws {
        let configuration = try RedisConfiguration(url: url)
        #expect(configuration.address == address)
        #expect(configuration.displayName == displayName)
        #expect((configuration.tls != nil) == url.hasPrefix("rediss"))
        #expect(configuration.password == nil)
    }

    @Test func readsUserPasswordAndDatabaseAndShowsNeither() throws {
        let configuration = try RedisConfiguration(url: "redis://ann:p%40ss%2Fword@redis.example:6380/7")
        #expect(configuration.user == "ann")
        #expect(configuration.password == "p@ss/word")
        #expect(configuration.database == 7)
        #expect(configuration.displayName == "redis://redis.example:6380/7")

        let withoutUser = try RedisConfiguration(url: "unix://:secret@/run/redis.sock")
        #expect(withoutUser.user == nil)
        #expect(withoutUser.password == "secret")
        #expect(withoutUser.displayName == "unix:///run/redis.sock")
    }

    @Test(arguments: [
        ("", "no URL"), ("localhost", "no URL"), ("http://:secret@localhost", "scheme \"http\""),
        ("redis://", "no host"), ("redis://:secret@host/db", "database \"db\""), ("redis://host/-1", "database"),
        ("redis://secret@host", "without a password"), ("redis://host:0", "port 0"), ("redis://host:99999", "port"),
        ("unix://run/redis.sock", "absolute path"), ("unix:///", "absolute path"),
        ("redis://:secret@host/0?x=y", "\"?\""), ("redis://:secret#x@host", "no URL"),
    ])
    func refusesWhatIsNoAddressWithoutShowingPasswords(url: String, found: String) throws {
        let error = try #require(throws: RedisError.self) { try RedisConfiguration(url: url) }
        #expect(error.code == .invalidAddress)
        #expect(error.message.contains(found))
        #expect(error.message.contains("redis://[user:password@]host"))
        #expect(!error.description.contains("secret"))
    }
}
