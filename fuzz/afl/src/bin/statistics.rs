fn main() {
    afl::fuzz!(|input: &[u8]| tamias_fuzz_bodies::statistics(input));
}
