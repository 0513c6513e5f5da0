import DarkroomRedis
import ErrorExpectations
import Testing

@Suite struct RedisConfigurationTests {
    @Test(arguments: [
        ("redis://127.0.0.1", RedisConfiguration.Address.tcp(host: "127.0.0.1", port: 6379), "redis://127.0.0.1:6379"),
        ("redis://[::1]:7000/", .tcp(host: "::1", port: 7000), "redis://[::1]:7000"),
        ("rediss://redis.example:6380/2", .tcp(host: "redis.example", port: 6380), "rediss://redis.example:6380/2"),
        ("unix:///run/redis/redis.sock", .unix(path: "/run/redis/redis.sock"), "unix:///run/redis/redis.sock"),
        (
            "redis+sentinel://a:1,[::1]:2,c/my%20master/3",
            .sentinels(
                [
                    RedisConfiguration.Endpoint(host: "a", port: 1), RedisConfiguration.Endpoint(host: "::1", port: 2),
                    RedisConfiguration.Endpoint(host: "c", port: 26379),
                ], service: "my master"),
            "redis+sentinel://a:1,[::1]:2,c:26379/my master/3"
        ),
        (
            "rediss+sentinel://10.0.0.1/m",
            .sentinels([RedisConfiguration.Endpoint(host: "10.0.0.1", port: 26379)], service: "m"),
            "rediss+sentinel://10.0.0.1:26379/m"
        ),
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

    @Test func readsTheCredentialsOfSentinelsAndASeparatePassword() throws {
        let both = try RedisConfiguration(
            url: "redis+sentinel://ann:a@s:1/m?sentinel-user=bob&sentinel-password=b%26c")
        #expect(both.user == "ann" && both.password == "a")
        #expect(both.sentinelUser == "bob" && both.sentinelPassword == "b&c")
        #expect(both.displayName == "redis+sentinel://s:1/m")

        let user = try RedisConfiguration(url: "redis://ann@h", password: "secret")
        #expect(user.user == "ann" && user.password == "secret")
        #expect(try RedisConfiguration(url: "redis://h", password: "secret").password == "secret")
        #expect(try RedisConfiguration(url: "redis://:own@h", password: "secret").password == "own")
    }

    @Test(arguments: [
        ("redis://ann:secret@h:1/x", "redis://ann:***@h:1/x"), ("redis://:p/w@h", "redis://:***@h"),
        ("redis://:p?w@h", "redis://:***@h"),
        ("redis://:p/w?d@h", "redis://:***?***"),
        ("redis://secret@h", "redis://***@h"), ("ann:secret@h", "ann:***@h"), ("http://h:80/x", "http://h:80/x"),
        ("redis+sentinel://a:1,b:2/m?sentinel-password=x@y", "redis+sentinel://a:1,b:2/m?***"),
        ("redis://[::1]:7000", "redis://[::1]:7000"), ("redis://ann:secret", "redis://ann:***"), ("", ""),
        ("redis+sentinel://a:1/m?\u{301}sentinel-password=x", "redis+sentinel://a:1/m?***"),
        ("redis://ann:secret@\u{301}h", "redis://ann:***@\u{301}h"), ("redis://:p@\u{301}h", "redis://:***@\u{301}h"),
    ])
    func showsAURLWithoutItsPassword(url: String, shown: String) {
        #expect(RedisConfiguration.redacted(url) == shown)
    }

    @Test(arguments: [
        ("", "it is not a URL"), ("localhost", "it is not a URL"), ("http://:secret@localhost", "scheme \"http\""),
        ("redis://", "no host"), ("redis://:secret@host/db", "database \"db\""), ("redis://host/-1", "database"),
        ("redis://secret@host", "without a password"), ("redis://host:0", "port 0"), ("redis://host:99999", "port"),
        ("unix://run/redis.sock", "absolute path"), ("unix:///", "absolute path"),
        ("redis://:secret@host/0?x=y", "\"?\""), ("redis://:secret#x@host", "\"#\""),
        ("redis://:sec/secret@host", "it is not a URL"), ("redis://:a?secret@host", "found"),
        (":secret@host", "it is not a URL"),
        ("redis://ann:secret", "it is not a URL"), ("redis://a:1,b:secret", "it is not a URL"),
        ("redis://a,b", "several hosts"),
        ("redis+sentinel://a:1,b:2", "no service name after the sentinels"), ("redis+sentinel:///m", "no host"),
        ("redis+sentinel://a/m/x", "database \"x\""), ("redis+sentinel://a:0/m", "port 0"),
        ("redis+sentinel://a/m?sentinel-password=x@secret#", "\"#\""),
        ("redis+sentinel://a/m?password=secret", "?password"),
        ("redis+sentinel://a/m?sentinel-user=secret", "sentinel-user without a password"),
    ])
    func refusesInvalidAddressesWithoutShowingPasswords(url: String, found: String) throws {
        let error = try requireError(RedisError.self) { try RedisConfiguration(url: url) }
        #expect(error.code == .invalidAddress)
        #expect(error.message.contains(found))
        #expect(error.message.contains("redis://[user:password@]host"))
        #expect(!error.description.contains("secret"))
    }
}
