//! Is the physics right? Every row of the table of expectations (`expectations.toml`), in closed form and as events. Each
//! row is a test of its own name.

mod common;

use common::run_events;
use common::table::{Row, TABLE, check_form};
use headstack_drive::command::{CacheResult, Command, Outcome};
use headstack_drive::{Drive, DriveModel};
use headstack_units::Nanos;
use std::sync::Arc;

/// Times are whole nanoseconds; a scenario adds up a few.
const TOLERANCE_MS: f64 = 20e-6;

/// The commands with their instants, and their outcomes in closed form unless they wait for each other.
fn in_closed_form(row: &Row, model: &Arc<DriveModel>) -> (Vec<(Nanos, Command)>, Option<Vec<Outcome>>) {
    let mut drive = Drive::new(Arc::clone(model), 1);
    let (mut arrivals, mut outcomes) = (Vec::new(), Vec::new());
    let (mut finish, mut overlap) = (Nanos::ZERO, false);
    for (at, command) in row.steps() {
        let at = at.after(finish);
        overlap |= at < finish;
        if !overlap {
            let outcome = drive.serve(at, command, &model.bus(), &mut Vec::new());
            finish = outcome.finish;
            outcomes.push(outcome);
        }
        arrivals.push((at, command));
    }
    (arrivals, (!overlap).then_some(outcomes))
}

fn time_of(what: &str, outcome: &Outcome) -> Nanos {
    let (phases, busy) = (&outcome.phases, &outcome.busy);
    match what {
        "response" => outcome.finish - outcome.submitted,
        "queue" => phases.queue,
        "overhead" => phases.overhead,
        "seek" => phases.seek,
        "rotation" => phases.rotation,
        "transfer" => phases.transfer,
        "bus" => phases.bus,
        "other" => phases.other,
        "busy-transfer" => busy.transfer,
        "busy-bus" => busy.bus,
        other => panic!("`{other}` is not a time of a command"),
    }
}

fn cache_word(cache: CacheResult) -> &'static str {
    match cache {
        CacheResult::Miss => "miss",
        CacheResult::Hit => "hit",
        CacheResult::PartialHit => "partial-hit",
        CacheResult::ReportedEarly => "reported-early",
    }
}

fn holds(name: &str) {
    let row = TABLE.row.iter().find(|row| row.name == name).expect("the table has the row");
    let model = Arc::new(DriveModel::new(&row.spec()).unwrap());
    let (arrivals, closed) = in_closed_form(row, &model);
    let (done, _) = run_events(&mut Drive::new(Arc::clone(&model), 1), &model.bus(), &arrivals);
    if let Some(closed) = closed {
        assert_eq!(closed, done, "closed form and events differ");
    }
    if let Some(order) = &row.order {
        assert_eq!(done.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), *order);
    }
    let last = arrivals.len() as u64 - 1;
    for outcome in &done {
        assert_eq!(
            outcome.submitted, arrivals[outcome.id as usize].0,
            "phases must reach back to the submission"
        );
    }
    let outcome = done.iter().find(|outcome| outcome.id == last).unwrap();
    for (what, formula, ms) in &row.expect {
        let ours = time_of(what, outcome);
        assert!(
            (ours.as_ms() - ms).abs() <= TOLERANCE_MS,
            "{what}: {ours}, not {formula} = {ms} ms: {outcome:?}"
        );
    }
    assert_eq!(cache_word(outcome.cache), row.cache.as_deref().unwrap_or(cache_word(outcome.cache)));
    assert_eq!(outcome.bus_transfers, row.bus_transfers.unwrap_or(outcome.bus_transfers));
}

/// A test for each row; and every row has one.
macro_rules! rows {
    ($($name:ident)*) => {
        $(#[test] fn $name() { holds(stringify!($name)); })*

        #[test]
        fn every_row_is_a_test() {
            check_form();
            let tests = [$(stringify!($name)),*];
            let rows: Vec<&str> = TABLE.row.iter().map(|row| row.name.as_str()).collect();
            assert_eq!(tests.as_slice(), rows.as_slice());
        }
    };
}

rows! {
    a_read_is_decoded_before_its_sector_counts
    a_read_decoded_too_late_loses_a_revolution
    a_write_asks_for_its_data_when_it_is_decoded
    data_may_come_beside_the_rest_of_the_overhead
    a_read_ends_with_its_completion
    a_write_ends_with_its_completion
    a_hit_has_an_overhead_of_its_own
    the_bus_is_prepared_before_the_first_byte
    the_arm_may_start_before_the_overhead_ends
    the_arm_may_start_after_the_command_is_decoded
    the_arm_moves_beside_the_rest_of_the_overhead
    a_move_that_ends_before_the_overhead_costs_nothing
    without_a_seek_all_of_the_overhead_is_waited_for
    a_first_read_counts_as_after_a_read
    a_read_after_a_write_has_its_own_overhead
    a_hit_after_a_write_has_its_own_overhead
    a_write_after_a_read_has_its_own_overhead
    a_write_elsewhere_after_a_write_has_its_own_overhead
    a_write_that_goes_on_is_prepared_sooner
    a_write_on_the_arms_track_is_prepared_sooner
    a_hit_in_a_stream_takes_its_short_overhead
    a_hit_at_rest_takes_longer
    a_hit_that_leaves_the_stream_counts_as_at_rest
    a_hit_at_rest_takes_longer_however_many_tracks_were_read_ahead
    a_stream_is_waited_for_though_reading_ahead_is_over
    a_stream_is_not_waited_for_longer_than_that
    each_read_in_time_is_waited_for_anew
    a_stream_that_was_late_once_is_at_rest
    the_arm_starts_later_for_a_write_after_a_write_elsewhere
    the_arm_starts_at_once_for_a_write_after_a_read
    a_seek_over_one_cylinder
    a_seek_over_the_full_stroke
    a_seek_back_takes_as_long
    a_short_seek_grows_with_the_root_of_its_distance
    a_long_seek_grows_with_its_distance
    a_constant_seek_knows_no_distance
    a_table_is_straight_between_its_points
    heads_accelerate_and_slow_down
    heads_coast_at_full_speed
    three_points_give_the_average_at_a_third_of_the_stroke
    lee_and_katz_s_coefficients
    a_seek_inwards_may_take_longer
    a_seek_outwards_is_shorter_then
    a_write_settles_after_its_seek
    a_read_does_not_pay_for_the_writes_settle
    a_read_settles_after_its_seek
    a_settle_below_zero_shortens_the_seek
    who_stays_on_the_track_does_not_settle
    a_settle_follows_a_head_switch
    a_settle_may_follow_movements_of_the_arm_only
    a_settle_may_depend_on_the_distance
    a_settle_by_distance_is_level_beyond_its_points
    a_read_does_not_pay_for_the_writes_settle_by_distance
    a_seek_may_take_longer_at_some_distances
    what_a_seek_takes_longer_is_level_beyond_its_points
    no_seek_takes_less_than_nothing
    a_change_of_head_takes_its_time
    of_seek_and_head_switch_the_longer_counts
    a_slow_head_switch_outlasts_the_seek
    the_skew_hides_the_head_switch
    a_skew_too_small_loses_a_revolution
    a_skew_too_large_is_waited_for
    the_cylinder_skew_hides_the_seek_to_the_next_cylinder
    a_cylinder_switch_counts_within_a_transfer
    a_cylinder_switch_is_no_seek
    a_switch_within_a_transfer_knows_no_direction
    a_write_crosses_a_track_as_a_read_does
    a_sector_under_the_head_is_read_at_once
    half_a_track_ahead_is_half_a_revolution_away
    a_sector_missed_by_one_tick_is_on_time
    a_sector_missed_by_two_ticks_is_lost
    a_quarter_of_an_hour_later_the_disk_is_where_it_must_be
    the_spindle_may_begin_anywhere
    a_spindle_may_turn_too_fast
    twice_the_speed_is_half_the_wait_and_half_the_transfer
    half_the_wait_for_the_sector_leaves_the_transfer
    without_a_wait_for_the_sector_it_is_there_when_the_arm_is
    the_next_track_of_a_transfer_waits_as_ever
    part_of_a_physical_sector_comes_around_a_revolution_later_as_ever
    without_a_wait_for_the_sector_a_write_where_the_arm_is_begins_when_its_data_are_there
    half_the_seek_is_half_of_the_head_switch_and_settle_too
    half_the_seek_is_half_of_the_settle_by_distance_too
    a_wait_that_is_drawn_is_scaled
    a_piece_of_the_write_cache_has_its_wait_scaled
    an_arm_half_a_revolution_on_meets_the_sector_first
    an_arm_at_another_angle_meets_the_sector_by_so_much_later
    an_arm_stays_where_it_last_worked
    an_arm_out_of_use_serves_nothing
    an_arm_that_fails_serves_nothing_from_then_on
    a_piece_of_the_write_cache_goes_to_the_arm_that_is_there_first
    while_one_arm_seeks_another_serves
    an_arm_serves_while_another_is_to_read_ahead
    one_arm_at_a_time_waits_for_the_other
    one_channel_carries_one_transfer_at_a_time
    a_transfer_may_end_as_another_begins
    a_channel_for_each_arm_carries_several_at_a_time
    sectors_that_another_arm_is_working_on_are_waited_for
    a_head_half_a_revolution_on_meets_the_sector_first
    a_head_at_another_angle_meets_the_sector_by_so_much_later
    the_heads_of_an_arm_move_together
    a_head_out_of_use_serves_nothing
    a_head_that_fails_serves_nothing_from_then_on
    a_head_on_a_radial_line_is_near_in_its_own_band
    from_head_to_head_of_a_radial_line_is_a_head_switch
    from_band_to_band_the_arm_goes_back
    fixed_heads_serve_without_a_seek
    fixed_heads_stand_at_an_angle_of_their_own
    the_arm_stands_still_while_fixed_heads_serve
    other_cylinders_are_the_arms
    the_arm_takes_over_where_fixed_heads_end
    two_surfaces_at_once_take_half_the_time
    the_next_group_of_surfaces_is_as_far_away_as_the_next_surface_was
    an_inner_zone_is_slower
    a_zone_may_begin_at_an_angle_of_its_own
    spare_sectors_turn_and_hold_nothing
    a_slipped_sector_moves_the_next_by_one
    a_read_waits_while_a_slipped_sector_passes
    a_remapped_sector_lives_elsewhere
    a_read_goes_to_a_remapped_sector_and_comes_back
    a_slipped_track_is_passed_over
    what_the_drive_keeps_for_itself_comes_first
    spares_of_a_cylinder_lie_at_its_end
    in_a_serpentine_the_head_stays_at_a_change_of_cylinder
    along_a_surface_the_next_track_is_the_next_cylinder
    a_fast_bus_adds_the_last_sector_only
    a_bus_slower_than_the_media_sets_the_pace
    a_fence_is_waited_for
    a_fence_may_be_a_share_of_the_read
    a_tracks_end_may_count_as_a_fence
    a_full_buffer_costs_a_revolution
    a_full_buffer_waits_until_the_bus_has_been_won
    the_last_sectors_of_a_drive_come_through_a_small_buffer
    without_a_buffer_the_host_takes_each_sector_as_it_passes
    without_a_buffer_no_more_is_read_than_was_asked_for
    without_a_buffer_a_late_host_costs_a_revolution
    arbitration_comes_before_the_data
    a_drive_reconnects_after_mechanical_work
    a_hit_needs_no_reconnection
    a_drive_that_does_not_let_go_need_not_reconnect
    a_read_in_bursts_lets_go_of_the_bus_between_them
    a_hit_in_bursts_reconnects_between_them
    a_read_asks_for_the_bus_again_at_its_buffer_full_ratio
    a_write_may_begin_with_its_first_sector
    the_last_burst_of_a_write_is_what_is_left
    in_bursts_the_media_go_on_when_the_next_cannot_run_out
    a_write_waits_until_its_data_cannot_run_out
    late_data_cost_a_write_a_revolution
    data_come_while_the_arm_moves
    data_may_be_fetched_when_the_arm_has_settled
    data_that_run_out_cost_a_revolution
    the_media_start_some_time_after_the_data_are_there
    a_write_in_order_waits_for_its_first_sector
    a_write_on_arrival_begins_in_its_middle
    a_write_on_arrival_whose_data_are_late_goes_in_order
    a_whole_physical_sector_is_written_at_once
    part_of_a_physical_sector_is_read_first_and_written_a_revolution_later
    what_is_read_first_needs_no_settling_for_a_write
    without_a_buffer_the_host_gives_each_sector_as_it_passes
    without_a_buffer_a_late_host_costs_a_write_a_revolution
    a_hit_takes_the_bus_only
    without_a_cache_nothing_is_kept
    of_a_partial_hit_the_rest_comes_from_the_media
    a_partial_hit_may_be_read_as_a_whole
    what_the_host_has_read_may_be_dropped
    large_reads_may_leave_the_cache_alone
    reads_up_to_the_size_of_large_ones_are_kept
    reads_up_to_the_size_of_large_ones_find_what_is_kept
    a_segment_keeps_the_end_of_what_it_cannot_hold
    what_was_used_last_stays
    the_least_recently_used_segment_makes_room
    written_sectors_leave_the_cache
    what_lies_before_the_written_sectors_stays
    a_write_may_drop_the_segment_it_touches
    a_write_right_behind_a_segment_does_not_touch_it
    a_write_may_be_brought_into_the_segment_it_touches
    written_data_are_dropped_unless_the_drive_keeps_them
    written_data_may_stay_for_reads
    written_data_push_out_what_was_read
    a_write_that_goes_on_is_a_use_of_its_segment
    a_segment_of_their_own_keeps_writes_from_read_data
    adaptive_segments_give_one_stream_the_whole_cache
    fixed_segments_hold_what_they_hold
    a_second_stream_takes_half_of_an_adaptive_cache
    half_of_an_adaptive_cache_stays_with_the_first_stream
    a_segment_for_writes_is_not_for_reads
    back_to_back_reads_lose_a_revolution_without_read_ahead
    back_to_back_reads_lose_nothing_with_read_ahead
    nothing_is_read_ahead
    to_the_tracks_end
    to_the_tracks_end_and_not_beyond
    to_the_cylinders_end
    to_the_cylinders_end_and_not_beyond
    behind_a_read_to_the_cylinders_end_nothing_is_read
    until_the_segment_is_full
    until_the_segment_is_full_and_not_beyond
    a_segment_ahead_of_the_host
    a_segment_ahead_and_not_beyond
    after_a_hit_the_drive_reads_on
    a_first_read_is_followed_to_the_tracks_end
    a_stream_is_followed_for_a_segment
    before_a_stream_is_known_nothing_is_read_ahead
    once_a_stream_is_known_it_is_followed
    a_stream_that_is_in_the_buffer_does_not_set_the_arm_going
    read_ahead_may_be_limited
    limited_read_ahead_stops_at_its_limit
    a_limit_beyond_the_segment_limits_nothing
    read_ahead_keeps_what_the_host_has
    read_ahead_may_push_out_what_the_host_has
    a_write_into_what_is_read_ahead_stops_it
    sectors_read_ahead_and_then_written_are_not_read_from_the_cache
    a_head_switch_of_read_ahead_is_not_broken_off
    a_head_switch_of_read_ahead_that_has_not_begun_is_left_out
    behind_a_read_to_the_tracks_end_the_arm_stays
    in_order_a_track_takes_up_to_two_revolutions
    on_arrival_a_track_takes_one_revolution
    what_passes_on_the_way_is_kept
    on_arrival_nothing_is_read_behind_the_request
    on_arrival_no_more_is_read_of_the_last_track
    a_whole_track_comes_in
    any_whole_track_comes_in
    what_comes_between_landing_and_request_is_kept
    a_zero_latency_read_is_followed_to_the_tracks_end
    a_whole_track_is_not_there_before_it_has_passed
    a_track_read_from_its_beginning_is_there_when_its_last_sector_is
    what_had_passed_before_joins_once_and_a_hit_may_drop_it
    what_is_asked_for_while_the_whole_track_comes_in_is_read_after_all
    limited_read_ahead_leaves_what_had_passed_before
    a_first_write_is_reported_when_its_data_are_there
    written_through_it_is_complete_on_the_media
    a_write_that_goes_on_is_reported_early
    appended_writes_lose_no_revolution
    a_write_forced_to_the_media_is_not_reported_early
    data_on_their_way_to_the_media_are_read_from_the_buffer
    only_so_many_writes_are_pending
    a_continuation_joins_a_pending_write_at_once
    a_write_over_pending_data_waits_for_the_media
    a_write_may_replace_pending_data
    pending_writes_fill_the_buffer
    a_write_for_which_half_the_room_is_left_waits
    a_write_that_just_fits_beside_another_does_not_wait
    each_write_on_the_media_gives_its_room_back
    a_buffered_write_takes_the_bus_only
    a_full_buffer_makes_room_first
    overwriting_needs_no_room
    buffered_data_are_read_from_the_buffer
    in_idle_time_buffered_writes_go_to_the_media
    a_read_that_comes_as_a_buffered_write_would_go_is_first
    a_forced_write_goes_past_the_write_cache
    above_the_high_water_mark_a_read_waits
    above_the_high_water_mark_a_read_waits_for_the_piece_under_way_and_no_other
    above_the_high_water_mark_a_queue_is_chosen_from_after_the_piece
    the_drive_writes_down_to_the_low_water_mark_and_no_further
    a_cached_write_does_not_wait_for_a_read_that_has_the_arm
    first_come_first_served_a_cached_write_waits
    a_write_to_what_is_being_read_waits_for_the_read
    a_write_for_which_there_is_no_room_waits_for_the_arm
    a_recalibration_is_waited_for
    before_it_falls_due_nothing_is_waited_for
    a_drive_at_rest_long_enough_must_wake_up
    a_change_that_has_begun_is_ended_first
    a_shorter_rest_wakes_nothing
    a_command_waits_for_the_one_before_it
    first_come_first_served
    the_shortest_seek_goes_first
    of_one_track_the_sector_that_comes_first_goes_first
    a_seek_that_arrives_sooner_beats_a_long_rotation
    the_head_of_the_queue_goes_before_what_waits
    a_constant_time_whatever_is_asked
    a_linear_transfer_of_two_tracks
    a_linear_transfer_at_the_pace_of_the_bus
    track_changes_may_cost_nothing
    a_linear_write_may_be_reported_early
    a_linear_write_that_was_reported_early_keeps_the_arm
    the_cached_part_of_a_read_may_wait_for_the_overhead_of_a_hit
    a_write_after_a_write_elsewhere_may_have_its_own_completion
    a_writes_arm_may_take_its_time_where_it_is
    a_share_of_a_read_may_be_rounded_down
    a_cache_may_be_looked_up_when_the_command_comes
    what_read_ahead_takes_to_stop_is_added_to_the_overhead
    of_two_segments_the_one_that_holds_the_whole_read_serves
    read_ahead_may_stop_behind_a_sector
    an_arm_that_is_just_about_to_leave_its_track_stays
    read_ahead_may_go_a_track_ahead
    behind_the_last_sector_there_is_no_track_ahead
    read_ahead_may_wait_until_data_are_sent
    a_hit_elsewhere_may_end_read_ahead
    a_hit_in_its_own_segment_takes_read_ahead_further
    a_hit_that_has_all_ahead_of_it_begins_no_read_ahead
    the_segment_that_was_being_filled_may_be_spared
    a_write_may_leave_a_segment_that_is_being_filled
    reads_may_wait_for_early_writes
    a_read_that_comes_when_an_early_write_is_through_waits_for_nothing
    appended_data_may_be_written_twice
    what_is_written_twice_is_what_was_appended
    what_was_not_reported_early_is_written_once
    appended_data_come_as_room_is_left
    a_write_behind_one_that_is_on_the_media_has_a_segment_of_its_own
    a_write_into_one_on_its_way_has_a_segment_of_its_own
    a_write_over_sectors_to_be_read_ahead_stops_it
    a_write_right_behind_what_is_read_ahead_does_not_stop_it
    a_write_that_no_segment_holds_anything_of_does_not_stop_it
    the_room_of_the_last_sector_is_free_when_the_read_is_complete
    room_on_the_next_track_is_waited_for_too
    data_that_have_not_come_have_not_left
    data_that_wait_for_the_bus_have_not_left
    while_it_waits_for_room_sectors_go_by
    as_its_sector_begins_the_wait_for_room_is_over
    data_sent_from_another_segment_take_no_room_of_read_ahead
    a_write_on_arrival_needs_its_last_sector_and_no_more
    a_read_that_fails_once_takes_a_revolution_more
    what_is_being_read_ahead_is_taken_as_it_comes
    a_write_that_never_left_the_bus_need_not_reconnect
    a_write_that_the_cache_takes_does_not_wait_for_the_arm
    a_cache_that_is_more_than_half_full_takes_writes_while_there_is_room
    a_write_to_a_full_cache_waits_its_turn
    a_queue_of_sequential_reads_goes_on_as_the_sectors_come
    so_it_does_where_the_queue_is_a_drives_own
    a_linear_transfer_begins_behind_the_arbitration
}
