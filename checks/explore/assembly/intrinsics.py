"""Functions of the prelude that have LLVM text of their own: the processor does them faster."""

from __future__ import annotations

DEFINED = frozenset({"popcount", "copy"})
TEXT = """
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i64 @popcount(i64 %x) alwaysinline {
  %n = call i64 @llvm.ctpop.i64(i64 %x)
  ret i64 %n
}

define internal i64 @copy(ptr %w, i64 %to, i64 %of, i64 %count) alwaysinline {
  %there = getelementptr inbounds i64, ptr %w, i64 %to
  %here = getelementptr inbounds i64, ptr %w, i64 %of
  %size = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  ret i64 0
}

define internal i64 @copied(ptr %row, i64 %to, ptr %other, i64 %of, i64 %count) alwaysinline {
  %there = getelementptr inbounds i64, ptr %row, i64 %to
  %here = getelementptr inbounds i64, ptr %other, i64 %of
  %size = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %there, ptr %here, i64 %size, i1 false)
  ret i64 0
}

declare i32 @sched_yield()

define internal i64 @rest() {
  %ignored = call i32 @sched_yield()
  ret i64 0
}

define internal i64 @scanned(ptr %row, i64 %at, i64 %tag, i64 %mask) alwaysinline {
  %place = getelementptr inbounds i32, ptr %row, i64 %at
  %entries = load <16 x i32>, ptr %place, align 4
  %short.tag = trunc i64 %tag to i32
  %short.mask = trunc i64 %mask to i32
  %others = xor i32 %short.mask, -1
  %one.tag = insertelement <16 x i32> poison, i32 %short.tag, i64 0
  %tags = shufflevector <16 x i32> %one.tag, <16 x i32> poison, <16 x i32> zeroinitializer
  %one.mask = insertelement <16 x i32> poison, i32 %others, i64 0
  %masks = shufflevector <16 x i32> %one.mask, <16 x i32> poison, <16 x i32> zeroinitializer
  %upper = and <16 x i32> %entries, %masks
  %like = icmp eq <16 x i32> %upper, %tags
  %none = icmp eq <16 x i32> %entries, zeroinitializer
  %free = bitcast <16 x i1> %none to i16
  %alike = bitcast <16 x i1> %like to i16
  %taken = xor i16 %free, -1
  %same = and i16 %alike, %taken
  %low = zext i16 %same to i64
  %high = zext i16 %free to i64
  %up = shl i64 %high, 16
  %bits = or i64 %low, %up
  ret i64 %bits
}

define internal i64 @locked(ptr %row, i64 %at) alwaysinline {
  %place = getelementptr inbounds i64, ptr %row, i64 %at
  %pair = cmpxchg ptr %place, i64 0, i64 1 acquire monotonic, align 8
  %free = extractvalue { i64, i1 } %pair, 1
  %mine = zext i1 %free to i64
  ret i64 %mine
}

define internal i64 @claimed(ptr %row, i64 %at) alwaysinline {
  %place = getelementptr inbounds i64, ptr %row, i64 %at
  %number = atomicrmw add ptr %place, i64 1 acq_rel, align 8
  ret i64 %number
}

define internal i64 @seen(ptr %row, i64 %at) alwaysinline {
  %place = getelementptr inbounds i64, ptr %row, i64 %at
  %number = load atomic i64, ptr %place acquire, align 8
  ret i64 %number
}

define internal i64 @tell(ptr %row, i64 %at, i64 %number) alwaysinline {
  %place = getelementptr inbounds i64, ptr %row, i64 %at
  store atomic i64 %number, ptr %place release, align 8
  ret i64 0
}

define internal i64 @acquired(ptr %row, i64 %at) alwaysinline {
  %place = getelementptr inbounds i32, ptr %row, i64 %at
  %short = load atomic i32, ptr %place acquire, align 4
  %number = zext i32 %short to i64
  ret i64 %number
}

define internal i64 @released(ptr %row, i64 %at, i64 %number) alwaysinline {
  %place = getelementptr inbounds i32, ptr %row, i64 %at
  %short = trunc i64 %number to i32
  store atomic i32 %short, ptr %place release, align 4
  ret i64 0
}

define internal i64 @placed(ptr %row, i64 %at, i64 %number) alwaysinline {
  %place = getelementptr inbounds i32, ptr %row, i64 %at
  %short = trunc i64 %number to i32
  %pair = cmpxchg ptr %place, i32 0, i32 %short acq_rel monotonic, align 4
  %free = extractvalue { i32, i1 } %pair, 1
  %mine = zext i1 %free to i64
  ret i64 %mine
}

define internal i64 @floor_div(i64 %a, i64 %b) alwaysinline {
  %zero = icmp eq i64 %b, 0
  %minus = icmp eq i64 %b, -1
  %odd = or i1 %zero, %minus
  %d = select i1 %odd, i64 1, i64 %b
  %q = sdiv i64 %a, %d
  %r = srem i64 %a, %d
  %signs = xor i64 %r, %d
  %apart = icmp slt i64 %signs, 0
  %rest = icmp ne i64 %r, 0
  %lower = and i1 %apart, %rest
  %less = sext i1 %lower to i64
  %floor = add i64 %q, %less
  %negative = sub i64 0, %a
  %one = select i1 %minus, i64 %negative, i64 %floor
  %all = select i1 %zero, i64 0, i64 %one
  ret i64 %all
}

define internal i64 @floor_mod(i64 %a, i64 %b) alwaysinline {
  %q = call i64 @floor_div(i64 %a, i64 %b)
  %p = mul i64 %q, %b
  %r = sub i64 %a, %p
  %zero = icmp eq i64 %b, 0
  %all = select i1 %zero, i64 0, i64 %r
  ret i64 %all
}
"""
